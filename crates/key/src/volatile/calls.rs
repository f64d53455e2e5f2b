//! What a function gives, as far as something volatile can be reached from it.

use std::rc::Rc;

use super::places::Set;
use super::value::{Built, Shape, Value};
use super::walk::Walk;
use crate::expression::ast::{Ast, Kind};
use crate::expression::functions::Function;

impl<'e> Walk<'e> {
    pub(super) fn call(
        &mut self,
        function: Function,
        ast: &'e Ast,
        arguments: &'e [Ast],
        from: &Value<'e>,
    ) -> Value<'e> {
        let is_reference = |argument: &&Ast| matches!(argument.kind, Kind::Reference(_));
        let reference = arguments.iter().find(is_reference);
        let values = arguments.iter().filter(|argument| !is_reference(argument));
        let values: Vec<Value<'e>> = values.map(|argument| self.value(argument, from)).collect();
        let any = Value::any(&values);
        match (function, reference) {
            // Of several objects, a later one may have the member, or not.
            (Function::Merge | Function::NotNull, _) => any,
            (Function::Reverse, _) => any.reversed(),
            (Function::Values, _) => any.values(&mut self.places),
            (Function::Sort, _) => any.ordered(),
            (Function::SortBy, Some(by)) => self.ordered_by(by, &any).or(&any.ordered()),
            (Function::Max | Function::Min, _) => any.elements(&mut self.places),
            (Function::MaxBy | Function::MinBy, Some(by)) => {
                self.ordered_by(by, &any).or(&any.elements(&mut self.places))
            }
            (Function::Map, Some(each)) => self.projected(&any, each),
            (Function::ToArray, _) => in_list(&any),
            (
                Function::Abs
                | Function::Avg
                | Function::Ceil
                | Function::Floor
                | Function::Join
                | Function::Sum
                | Function::ToNumber,
                _,
            ) => Value::built(Shape::Scalar(any)),
            (Function::ToString, _) => in_text(any),
            (Function::Contains | Function::StartsWith | Function::EndsWith, _) => self.found_by(&any),
            (Function::Header, _) => self.header(ast, arguments, &values),
            (Function::PowertoolsJson | Function::PowertoolsBase64 | Function::PowertoolsBase64Gzip, _) => {
                self.decoded(&any)
            }
            (Function::Length, _) => self.length(&any),
            // The names of an object's members, and the type of a value, are the same at every delivery.
            (Function::Keys | Function::Type, _) => Value::decided_by(any.decided),
            // The parser lets no call without its reference pass.
            (Function::SortBy | Function::MaxBy | Function::MinBy | Function::Map, None) => any,
        }
    }

    /// What decides about an order, of which nothing becomes part of the key.
    ///
    /// A volatile member of the elements may: `sort_by(Records, &messageId)[0].body` is as stable as `Records[0].body`,
    /// since AWS puts the records of a delivery in any order as well, and where there is one, which is all that a
    /// handler takes, there is no order. What is not in the elements of an input's list stands in a list of the
    /// expression's own, of which it would choose another element at every delivery.
    fn ordered_by(&mut self, by: &'e Ast, list: &Value<'e>) -> Value<'e> {
        let elements = list.elements(&mut self.places);
        let order = self.value(by, &elements);
        Value::decided_by(self.places.single(order.all_places()).with(order.all_decided()))
    }

    fn header(&mut self, ast: &'e Ast, arguments: &'e [Ast], values: &[Value<'e>]) -> Value<'e> {
        match (values.first(), arguments.get(1).map(|name| &name.kind)) {
            (Some(headers), Some(Kind::Literal(json))) => {
                headers.header(&mut self.places, json.trim_matches('"'), ast.start)
            }
            _ => Value::default(),
        }
    }

    /// What is in a text of the input is the user's own. A text that the expression has made holds what it made it of.
    fn decoded(&self, text: &Value<'e>) -> Value<'e> {
        let made = text.built.iter().filter_map(|built| match &built.shape {
            Shape::Scalar(of) => Some(of),
            _ => None,
        });
        Value::any(made).or(&Value::at(self.places.volatile(text.places))).or_decided_by(text.decided)
    }

    /// The length of a text is as volatile as the text; of a list or an object it is not.
    fn length(&self, value: &Value<'e>) -> Value<'e> {
        let texts = value.built.iter().filter(|built| matches!(built.shape, Shape::Scalar(_)));
        let texts = Value {
            places: self.places.volatile(value.places),
            decided: value.decided,
            built: texts.cloned().collect(),
        };
        Value::built(Shape::Scalar(texts)).or_decided_by(value.decided)
    }
}

/// A text as it is, and anything else as a text of its own.
fn in_text(value: Value<'_>) -> Value<'_> {
    let is_text = |built: &Rc<Built<'_>>| matches!(built.shape, Shape::Scalar(_));
    let (texts, others) = value.built.into_iter().partition(is_text);
    let text = Value::built(Shape::Scalar(Value { built: others, ..value }));
    text.or(&Value { built: texts, places: Set::default(), decided: value.decided })
}

/// A list as it is, and anything else as the only element of one.
fn in_list<'e>(value: &Value<'e>) -> Value<'e> {
    let is_list = |shape: &Shape<'_>| matches!(shape, Shape::List(_) | Shape::Elements(_));
    let (lists, others) = value.built.iter().cloned().partition(|built| is_list(&built.shape));
    let single = Value { places: value.places, built: others, ..Value::default() };
    let lists = Value { built: lists, ..*value };
    lists.or(&Value::built(Shape::List(vec![single])))
}
