//! Values that are new at every delivery, and therefore no key.
//!
//! The paths of an expression are followed from the input (or from a record in `Records`). What a
//! `powertools_*` function takes out of a string is the user's own, whatever its names.

use crate::expression::Expression;
use crate::expression::ast::{Ast, Kind};
use crate::expression::error::ExpressionError;
use crate::expression::functions::Function;

/// Stands in a path for "an element of this array" or "a value of this object".
const ELEMENT: &str = "[]";

/// How many paths one expression can stand for, before the rest is let pass.
const MAX_PATHS: usize = 32;

const DELIVERY: &str = "it is new at every delivery";
const REQUEST: &str = "it is new for every request, so a retry has another";
const BROKER: &str = "it is the broker's: the producer's second send, and a message that comes \
                      back from a dead-letter queue, have another";

/// Paths from the input or from a record, and why each is no key. A `*` at the end of a name
/// stands for any rest.
const VOLATILE: [(&[&str], &str); 18] = [
    (&["receiptHandle"], DELIVERY),
    (&["attributes", "Approximate*"], DELIVERY),
    (&["kinesis", "approximateArrivalTimestamp"], BROKER),
    (&["Records", ELEMENT, "messageId"], BROKER),
    (&["Sns", "MessageId"], BROKER),
    (&["kinesis", "sequenceNumber"], BROKER),
    (&["requestContext", "requestId"], REQUEST),
    (&["requestContext", "extendedRequestId"], REQUEST),
    (&["requestContext", "requestTime"], REQUEST),
    (&["requestContext", "requestTimeEpoch"], REQUEST),
    (&["requestContext", "time"], REQUEST),
    (&["requestContext", "timeEpoch"], REQUEST),
    (&["headers", "x-amzn-trace-id"], REQUEST),
    (&["headers", "x-amzn-requestid"], REQUEST),
    (&["headers", "x-amz-cf-id"], REQUEST),
    (&["aws.scheduler.execution-id"], DELIVERY),
    (&["<aws.scheduler.execution-id>"], DELIVERY),
    (&["aws.scheduler.attempt-number"], DELIVERY),
];

/// Refuses an expression that selects something volatile.
pub(crate) fn check(expression: &Expression) -> Result<(), ExpressionError> {
    let mut walk = Walk { expression, found: None };
    walk.follow(expression.ast(), &[Vec::new()]);
    walk.found.map_or(Ok(()), Err)
}

type Path<'e> = Vec<&'e str>;

struct Walk<'e> {
    expression: &'e Expression,
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

    fn visit(&mut self, ast: &Ast, path: &[&str]) {
        let record = path.strip_prefix(&["Records", ELEMENT]).unwrap_or(path);
        let hit = VOLATILE.iter().find(|(known, _)| matches(known, path) || matches(known, record));
        if let (Some((_, reason)), None) = (hit, &self.found) {
            let shown = path.join(".").replace(".[]", "[]");
            let problem = format!("`{shown}` is no key: {reason}");
            let cure = "take a value that the producer sends again unchanged, such as the order's \
                        id, or, for an engine or a layer, `Key::parse_allowing_volatile`";
            let error = ExpressionError::new(self.expression.as_str(), ast.start, problem);
            self.found = Some(error.with_cure(cure));
        }
    }
}

fn extended<'e>(paths: &[Path<'e>], step: &'e str) -> Vec<Path<'e>> {
    paths.iter().map(|path| path.iter().copied().chain([step]).collect()).collect()
}

/// Whether a path is the known one. Header names have no case.
fn matches(known: &[&str], path: &[&str]) -> bool {
    let headers = matches!(path.first(), Some(&("headers" | "multiValueHeaders")));
    let step = |(position, (known, step)): (usize, (&&str, &&str))| {
        if headers {
            return position == 0 && *known == "headers" || known.eq_ignore_ascii_case(step);
        }
        match known.strip_suffix('*') {
            Some(prefix) => step.starts_with(prefix),
            None => known == step,
        }
    };
    // A list of values of one header is that header.
    let path = if headers { path.strip_suffix(&[ELEMENT]).unwrap_or(path) } else { path };
    known.len() == path.len() && known.iter().zip(path).enumerate().all(step)
}
