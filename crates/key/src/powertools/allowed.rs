//! Which expressions select the same in every language.

use crate::expression::Expression;
use crate::expression::ast::{Ast, Comparison, Kind};
use crate::expression::functions::Function;
use crate::expression::select::SelectError;

const ORDER: &str = "depends on the order of an object's members";
const ARITHMETIC: &str = "depends on how a language calculates and spells numbers";
const CHARACTERS: &str = "depends on what a language takes for a character";
const NOTHING: &str = "depends on whether a language takes 0 and false for nothing";
const COMPARED: &str = "depends on how a language compares values";
const INHERITED: &str = "is a member that JavaScript finds in every object, or in none";
const LITERAL: &str = "is spelled otherwise in its canonical form";
const SLICED: &str = "is a slice behind a position, which other implementations do not project";

/// The members of `Object.prototype` (ECMAScript), and the empty name.
const UNSURE_MEMBERS: [&str; 13] = [
    "",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// The longest integer that every double holds exactly, in digits.
const EXACT_DIGITS: usize = 15;

/// Refuses what the languages do not agree on. Found by running the utilities themselves on random expressions.
pub(super) fn check(expression: &Expression) -> Result<(), SelectError> {
    let text = expression.as_str();
    let Some((ast, reason)) = first(text, expression.ast(), false) else { return Ok(()) };
    Err(SelectError::OtherInPowertools { part: source(text, ast).to_owned(), reason })
}

/// The first part that is refused, and why. `decides`: only whether the part is true counts, as in a filter.
// The depth of an expression is bounded.
fn first<'e>(text: &str, ast: &'e Ast, decides: bool) -> Option<(&'e Ast, &'static str)> {
    if let Some(reason) = differs(text, ast, decides) {
        return Some((ast, reason));
    }
    match &ast.kind {
        Kind::Filter(source, each, predicate) => first(text, source, false)
            .or_else(|| first(text, predicate, true))
            .or_else(|| first(text, each, decides)),
        Kind::Not(inner) => first(text, inner, true),
        Kind::And(..) | Kind::Or(..) => {
            ast.children().into_iter().find_map(|child| first(text, child, decides))
        }
        _ => ast.children().into_iter().find_map(|child| first(text, child, false)),
    }
}

fn source<'t>(text: &'t str, ast: &Ast) -> &'t str {
    text.get(ast.start..ast.end).unwrap_or(text).trim()
}

fn differs(text: &str, ast: &Ast, decides: bool) -> Option<&'static str> {
    match &ast.kind {
        Kind::Values(_) => Some(ORDER),
        Kind::Field(name) => UNSURE_MEMBERS.contains(&name.as_str()).then_some(INHERITED),
        Kind::Literal(json) => (!is_spelled_so(source(text, ast), json)).then_some(LITERAL),
        Kind::Compare(comparison, left, right) => {
            let is_sure = [left, right].into_iter().any(|side| match comparison {
                Comparison::Equal | Comparison::NotEqual => is_plain(side),
                // What is no number gives null, false, nothing or an error.
                _ => decides && is_number(side),
            });
            (!is_sure).then_some(COMPARED)
        }
        Kind::Then(left, right) if matches!(right.kind, Kind::Slice { .. }) => {
            let is_position = matches!(left.kind, Kind::Index(_));
            let ends_in_position =
                matches!(&left.kind, Kind::Then(_, last) if matches!(last.kind, Kind::Index(_)));
            (is_position || ends_in_position).then_some(SLICED)
        }
        Kind::Call(Function::Contains, arguments) => {
            let is_text = matches!(arguments.get(1).map(|needle| &needle.kind), Some(Kind::Literal(json)) if json.starts_with('"'));
            (!is_text).then_some(COMPARED)
        }
        Kind::Call(function, _) => called(*function),
        _ => None,
    }
}

/// Whether a literal is written as its canonical form is, but for white space.
fn is_spelled_so(source: &str, canonical: &str) -> bool {
    match source.strip_prefix('`').and_then(|json| json.strip_suffix('`')) {
        Some(json) => {
            let solid = |text: &str| text.split_ascii_whitespace().collect::<String>();
            solid(json) == solid(canonical)
        }
        // A text in single quotes, in which languages disagree on what is escaped.
        None => !source.contains('\\'),
    }
}

fn is_number(ast: &Ast) -> bool {
    matches!(&ast.kind, Kind::Literal(json) if json.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
}

/// A text, `true`, `false`, `null`, or an integer that is exact everywhere.
fn is_plain(ast: &Ast) -> bool {
    let Kind::Literal(json) = &ast.kind else { return false };
    match json.as_bytes().first() {
        Some(b'{' | b'[') => false,
        _ if is_number(ast) => json.len() <= EXACT_DIGITS && !json.contains(['.', 'e']),
        _ => true,
    }
}

fn called(function: Function) -> Option<&'static str> {
    match function {
        Function::Keys | Function::Merge | Function::Values => Some(ORDER),
        Function::Abs
        | Function::Avg
        | Function::Ceil
        | Function::Floor
        | Function::Sum
        | Function::ToNumber
        | Function::ToString => Some(ARITHMETIC),
        Function::Length
        | Function::Max
        | Function::MaxBy
        | Function::Min
        | Function::MinBy
        | Function::Reverse
        | Function::Sort
        | Function::SortBy => Some(CHARACTERS),
        Function::Map | Function::NotNull => Some(NOTHING),
        Function::Contains
        | Function::EndsWith
        | Function::Header
        | Function::Join
        | Function::PowertoolsBase64
        | Function::PowertoolsBase64Gzip
        | Function::PowertoolsJson
        | Function::StartsWith
        | Function::ToArray
        | Function::Type => None,
    }
}
