//! Positions, slices and projections.

use std::rc::Rc;

use super::{Evaluation, Value, is_true, sorted};
use crate::expression::ast::{Ast, Kind};
use crate::expression::select::SelectError;
use crate::json::node::Node;

impl<'a> Evaluation<'a> {
    /// Everything that selects from, or runs over, arrays and objects.
    pub(super) fn project(&self, ast: &'a Ast, node: &Node<'a>) -> Value<'a> {
        match &ast.kind {
            Kind::Index(position) => Ok(node.element(*position)?.reached()?),
            Kind::Slice { start, stop, step } => {
                let Node::Array(elements) = node.open()? else {
                    return Ok(Node::Null);
                };
                self.spend(elements.len())?;
                Ok(array(slice(&elements, *start, *stop, *step)))
            }
            Kind::Values(source) => {
                let source = self.eval(source, node)?;
                let Node::Object(members) = source.open()? else {
                    return Ok(Node::Null);
                };
                self.spend(members.len())?;
                Ok(array(sorted(&members)?.into_iter().map(|member| member.value).collect()))
            }
            Kind::Flatten(source) => {
                let source = self.eval(source, node)?;
                let Node::Array(elements) = source.open()? else {
                    return Ok(Node::Null);
                };
                let mut flat = Vec::new();
                for element in elements.iter() {
                    match element.type_name() {
                        "array" => {
                            let Node::Array(inner) = element.open()? else {
                                continue;
                            };
                            self.spend(inner.len())?;
                            flat.extend(inner.iter().cloned());
                        }
                        _ => flat.push(element.clone()),
                    }
                }
                self.spend(flat.len())?;
                Ok(array(flat))
            }
            Kind::Each(source, each) => {
                let source = self.eval(source, node)?;
                self.each(&source, each, |_| Ok(true))
            }
            Kind::Filter(source, each, predicate) => {
                let source = self.eval(source, node)?;
                self.each(&source, each, |element| Ok(is_true(&self.eval(predicate, element)?)?))
            }
            // The other kinds are evaluated elsewhere; a reference alone has no value.
            _ => Ok(Node::Null),
        }
    }

    fn each(
        &self,
        source: &Node<'a>,
        each: &'a Ast,
        keep: impl Fn(&Node<'a>) -> Result<bool, SelectError>,
    ) -> Value<'a> {
        let mut values = Vec::new();
        let is_array = source.each_element(|element| {
            if keep(element)? {
                let value = self.eval(each, element)?;
                if value.type_name() != "null" {
                    values.push(value);
                }
            }
            Ok::<_, SelectError>(())
        })?;
        Ok(if is_array { array(values) } else { Node::Null })
    }
}

pub(super) fn array(elements: Vec<Node<'_>>) -> Node<'_> {
    Node::Array(Rc::new(elements))
}

/// The elements of a slice, by the rules of Python, in 128 bits so that nothing overflows.
fn slice<'a>(elements: &[Node<'a>], start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<Node<'a>> {
    let length = elements.len() as i128;
    let step = i128::from(step);
    // The positions just outside, to either side, bound every end.
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let bound = |end: Option<i64>, default: i128| match end.map(i128::from) {
        None => default,
        Some(end) if end < 0 => (end + length).clamp(low, high),
        Some(end) => end.clamp(low, high),
    };
    let (from, to) = if step > 0 { (low, high) } else { (high, low) };
    let (mut at, to) = (bound(start, from), bound(stop, to));
    let mut chosen = Vec::new();
    while (step > 0 && at < to) || (step < 0 && at > to) {
        chosen.extend(usize::try_from(at).ok().and_then(|at| elements.get(at)).cloned());
        at += step;
    }
    chosen
}
