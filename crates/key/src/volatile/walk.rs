//! Follows an expression from the input on. Each of its parts is looked at once, whatever it is applied to, so that
//! the work grows with the length of the expression and not with what it could select.

use super::places::{Places, Set};
use super::value::{Shape, Value};
use crate::expression::ast::{Ast, Kind};

/// Texts without anything in them, as literals are kept.
const EMPTY: [&str; 4] = ["null", r#""""#, "[]", "{}"];

pub(super) struct Walk<'e> {
    pub(super) places: Places<'e>,
}

impl<'e> Walk<'e> {
    /// What a part of the expression selects, applied to this.
    pub(super) fn value(&mut self, ast: &'e Ast, from: &Value<'e>) -> Value<'e> {
        match &ast.kind {
            Kind::Current => from.clone(),
            Kind::Literal(_) => Value::default(),
            Kind::Field(name) => from.member(&mut self.places, name, ast.start),
            Kind::Index(index) => from.element(&mut self.places, *index),
            Kind::Slice { start, stop, step } => from.slice(*start, *stop, *step),
            Kind::Then(left, right) => {
                let left = self.value(left, from);
                self.value(right, &left)
            }
            Kind::List(parts) => {
                let part = |part| self.value(part, from);
                Value::built(Shape::List(parts.iter().map(part).collect()))
            }
            Kind::Hash(parts) => {
                let part = |(name, part): &'e (String, Ast)| (name.as_str(), self.value(part, from));
                Value::built(Shape::Hash(parts.iter().map(part).collect()))
            }
            Kind::Each(source, each) => {
                let source = self.value(source, from);
                self.projected(&source, each)
            }
            Kind::Filter(source, each, predicate) => {
                let source = self.value(source, from);
                let elements = source.elements(&mut self.places);
                let decided = self.condition(predicate, &elements);
                self.projected(&source, each).or_decided_by(decided)
            }
            Kind::Values(source) => self.value(source, from).values(&mut self.places),
            Kind::Flatten(source) => self.value(source, from).flattened(&mut self.places),
            Kind::Or(left, right) => {
                let left = self.value(left, from);
                left.or(&self.value(right, from))
            }
            // The left side is the result only where nothing is in it.
            Kind::And(left, right) => {
                let decided = self.condition(left, from);
                self.value(right, from).or_decided_by(decided)
            }
            Kind::Not(operand) => Value::decided_by(self.condition(operand, from)),
            Kind::Compare(_, left, right) => self.compared(left, right, from),
            Kind::Call(function, arguments) => self.call(*function, ast, arguments, from),
            // Only as an argument, which the function applies to what it takes.
            Kind::Reference(referred) => self.value(referred, from),
        }
    }

    /// A list of what an expression selects in each element. Which of them it is left out for is not known, and so
    /// neither is the position of one.
    pub(super) fn projected(&mut self, source: &Value<'e>, each: &'e Ast) -> Value<'e> {
        let elements = source.elements(&mut self.places);
        Value::elements_of(self.value(each, &elements)).or_decided_by(source.decided)
    }

    /// What decides whether something counts as true. A volatile value itself does not: it changes, but it is there
    /// at every delivery (`Records[?messageId]`, `requestContext && …`). What is computed of it may be false at the
    /// next one (`Records[?messageId == 'x']`), so that other work is selected, or none.
    fn condition(&mut self, ast: &'e Ast, from: &Value<'e>) -> Set {
        self.value(ast, from).all_decided()
    }

    fn compared(&mut self, left: &'e Ast, right: &'e Ast, from: &Value<'e>) -> Value<'e> {
        let values = [self.value(left, from), self.value(right, from)];
        let is_empty = |ast: &Ast| matches!(&ast.kind, Kind::Literal(json) if EMPTY.contains(&json.as_str()));
        if is_empty(left) || is_empty(right) {
            // Whether something is there at all is the same at every delivery.
            return Value::decided_by(Value::any(&values).all_decided());
        }
        self.found_by(&Value::any(&values))
    }

    /// True or false, by this. An object of the input as a whole says nothing but whether it is there.
    pub(super) fn found_by(&self, value: &Value<'e>) -> Value<'e> {
        let places = self.places.scalars(value.places).with(value.places_in_built());
        Value::decided_by(value.all_decided().with(places))
    }
}
