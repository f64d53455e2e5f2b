//! Where the parts of an expression lead, from the input on.

use std::collections::BTreeSet;

use super::known;
use crate::expression::Expression;
use crate::expression::ast::{Ast, Kind};
use crate::expression::error::ExpressionError;
use crate::expression::functions::Function;

/// Stands in a path for "an element of this array" or "a value of this object".
pub(super) const ELEMENT: &str = "[]";

/// How many paths one expression can stand for, before the rest is let pass.
const MAX_PATHS: usize = 32;

type Path<'e> = Vec<&'e str>;

/// The first value of an expression that is no key, if there is one.
pub(super) fn first_volatile(expression: &Expression) -> Option<ExpressionError> {
    let mut walk = Walk { expression, named: BTreeSet::new(), found: None };
    walk.follow(expression.ast(), &[Vec::new()]);
    // Only now is it known which members are named.
    walk.selected(expression.ast(), &[Vec::new()], expression.ast().start);
    walk.found
}

struct Walk<'e> {
    expression: &'e Expression,
    /// The members of the input that are named anywhere.
    named: BTreeSet<&'e str>,
    found: Option<ExpressionError>,
}

impl<'e> Walk<'e> {
    /// Where a part of the expression leads from any of these places.
    fn follow(&mut self, ast: &'e Ast, from: &[Path<'e>]) -> Vec<Path<'e>> {
        match &ast.kind {
            Kind::Current => from.to_vec(),
            Kind::Field(name) => {
                let paths = extended(from, name);
                paths.iter().for_each(|path| self.visit(ast, path));
                paths
            }
            Kind::Index(_) => extended(from, ELEMENT),
            // A slice is projected, and the projection steps to the elements.
            Kind::Slice { .. } => from.to_vec(),
            Kind::Then(left, right) => {
                let left = self.follow(left, from);
                self.follow(right, &left)
            }
            Kind::Each(source, each) => {
                let elements = extended(&self.follow(source, from), ELEMENT);
                self.follow(each, &elements)
            }
            Kind::Filter(source, each, predicate) => {
                let elements = extended(&self.follow(source, from), ELEMENT);
                self.follow(predicate, &elements);
                self.follow(each, &elements)
            }
            Kind::Values(source) | Kind::Flatten(source) | Kind::Reference(source) => {
                self.follow(source, from)
            }
            Kind::Or(left, right) | Kind::And(left, right) => {
                let mut paths = self.follow(left, from);
                paths.extend(self.follow(right, from));
                paths.truncate(MAX_PATHS);
                paths
            }
            Kind::Call(function, arguments) => self.call(*function, ast, arguments, from),
            Kind::Literal(_) | Kind::List(_) | Kind::Hash(_) | Kind::Not(_) | Kind::Compare(..) => {
                ast.children().into_iter().for_each(|child| drop(self.follow(child, from)));
                Vec::new()
            }
        }
    }

    fn call(
        &mut self,
        function: Function,
        ast: &'e Ast,
        arguments: &'e [Ast],
        from: &[Path<'e>],
    ) -> Vec<Path<'e>> {
        let mut paths = Vec::new();
        let (references, values): (Vec<_>, Vec<_>) =
            arguments.iter().partition(|argument| matches!(argument.kind, Kind::Reference(_)));
        for value in &values {
            paths.extend(self.follow(value, from));
        }
        paths.truncate(MAX_PATHS);
        let elements = extended(&paths, ELEMENT);
        for reference in references {
            self.follow(reference, &elements);
        }
        match function {
            Function::Header => {
                let Some(Kind::Literal(json)) = arguments.get(1).map(|name| &name.kind) else {
                    return Vec::new();
                };
                let paths = extended(&paths, json.trim_matches('"'));
                paths.iter().for_each(|path| self.visit(ast, path));
                paths
            }
            Function::PowertoolsJson | Function::PowertoolsBase64 | Function::PowertoolsBase64Gzip => {
                Vec::new()
            }
            Function::ToArray | Function::Map | Function::Keys => Vec::new(),
            Function::Max | Function::MaxBy | Function::Min | Function::MinBy => elements,
            _ => paths,
        }
    }

    /// Follows only what becomes part of the key, to where it ends. `at` is where that part begins.
    fn selected(&mut self, ast: &'e Ast, from: &[Path<'e>], at: usize) {
        match &ast.kind {
            Kind::List(parts) => parts.iter().for_each(|part| self.selected(part, from, part.start)),
            Kind::Hash(parts) => parts.iter().for_each(|(_, part)| self.selected(part, from, part.start)),
            Kind::Then(left, right) => {
                let left = self.follow(left, from);
                self.selected(right, &left, at);
            }
            Kind::Each(source, each) | Kind::Filter(source, each, _) => {
                let elements = extended(&self.follow(source, from), ELEMENT);
                self.selected(each, &elements, at);
            }
            // The left side is the result only where it is empty.
            Kind::And(_, right) => self.selected(right, from, right.start),
            Kind::Or(left, right) => {
                self.selected(left, from, left.start);
                self.selected(right, from, right.start);
            }
            Kind::Call(function, arguments) if keeps(*function) => {
                for argument in arguments {
                    self.selected(argument, from, argument.start);
                }
            }
            // Nothing but true or false, or a text of the expression's own.
            Kind::Not(_) | Kind::Compare(..) | Kind::Literal(_) | Kind::Reference(_) => {}
            Kind::Call(Function::Map, arguments) => self.mapped(arguments, from),
            Kind::Call(..) => {}
            _ => {
                let paths = self.follow(ast, from);
                paths.iter().for_each(|path| self.end(at, path));
            }
        }
    }

    /// What `map(&a, b)` makes of the elements of `b`.
    fn mapped(&mut self, arguments: &'e [Ast], from: &[Path<'e>]) {
        let [reference, list] = arguments else { return };
        let Kind::Reference(each) = &reference.kind else { return };
        let elements = extended(&self.follow(list, from), ELEMENT);
        self.selected(each, &elements, each.start);
    }

    /// A place that the expression goes through.
    fn visit(&mut self, ast: &Ast, path: &Path<'e>) {
        if let [member] = path.as_slice() {
            self.named.insert(member);
        }
        if let Some(reason) = known::value(path) {
            self.refuse(ast.start, path, reason, None);
        }
    }

    /// A place where the expression ends, so that all that is there is part of the key.
    fn end(&mut self, at: usize, path: &[&str]) {
        let whole = known::whole(path, |name| self.named.contains(name));
        if let Some((reason, cure)) = whole {
            self.refuse(at, path, reason, cure);
        }
    }

    fn refuse(&mut self, at: usize, path: &[&str], reason: &str, instead: Option<&str>) {
        if self.found.is_some() {
            return;
        }
        let shown = path.join(".").replace(".[]", "[]");
        let problem = format!("`{shown}` is no key: {reason}");
        let instead =
            instead.unwrap_or("take a value that the producer sends again unchanged, such as the order's id");
        let cure = format!(
            "{instead}, or accept it: `allow_volatile_key` in `#[idempotent]`, \
             `Key::parse_allowing_volatile` for an engine or a layer"
        );
        let error = ExpressionError::new(self.expression.as_str(), at, problem);
        self.found = Some(error.with_cure(cure));
    }
}

/// Whether what the function gives still tells its arguments apart.
fn keeps(function: Function) -> bool {
    match function {
        Function::Abs
        | Function::Avg
        | Function::Ceil
        | Function::Floor
        | Function::Join
        | Function::Max
        | Function::MaxBy
        | Function::Merge
        | Function::Min
        | Function::MinBy
        | Function::NotNull
        | Function::Reverse
        | Function::Sort
        | Function::SortBy
        | Function::Sum
        | Function::ToArray
        | Function::ToNumber
        | Function::ToString
        | Function::Values => true,
        // Names, sizes and kinds; a header by its name; what is inside of a text.
        Function::Contains
        | Function::EndsWith
        | Function::Header
        | Function::Keys
        | Function::Length
        | Function::Map
        | Function::PowertoolsBase64
        | Function::PowertoolsBase64Gzip
        | Function::PowertoolsJson
        | Function::StartsWith
        | Function::Type => false,
    }
}

/// One step further. An element of what is inside of a record is the thing itself: it was a projection that made
/// the list (`Records[*].attributes | [0]`).
fn extended<'e>(paths: &[Path<'e>], step: &'e str) -> Vec<Path<'e>> {
    let further = |path: &Path<'e>| {
        let is_projected = step == ELEMENT && path.len() > 1;
        path.iter().copied().chain((!is_projected).then_some(step)).collect()
    };
    paths.iter().map(further).collect()
}
