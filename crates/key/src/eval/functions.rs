//! Calling a function: its arguments, and which code computes it.

use std::rc::Rc;

use super::lists::array;
use super::{Evaluation, Value, sorted};
use crate::expression::ast::{Ast, Kind};
use crate::expression::functions::Function;
use crate::expression::select::{DecodeReason, SelectError};
use crate::json::canonical::canonical_node;
use crate::json::index::Guide;
use crate::json::node::{Member, Node};
use crate::json::text::Text;

/// A call under way: its evaluated arguments, and what errors say about it.
pub(super) struct Call<'e, 'a> {
    pub(super) evaluation: &'e Evaluation<'a>,
    ast: &'a Ast,
    asts: &'a [Ast],
    arguments: Vec<Node<'a>>,
}

impl<'a> Evaluation<'a> {
    pub(super) fn call(
        &self,
        function: Function,
        ast: &'a Ast,
        asts: &'a [Ast],
        node: &Node<'a>,
    ) -> Value<'a> {
        let arguments = asts.iter().map(|argument| match argument.kind {
            Kind::Reference(_) => Ok(Node::Null),
            _ => Ok(self.eval(argument, node)?.open()?),
        });
        let arguments = arguments.collect::<Result<Vec<_>, SelectError>>()?;
        let call = Call { evaluation: self, ast, asts, arguments };
        match function {
            Function::Abs | Function::Avg | Function::Ceil | Function::Floor | Function::Sum => {
                call.arithmetic(function)
            }
            Function::Contains | Function::StartsWith | Function::EndsWith => call.find(function),
            Function::Join => call.join(),
            Function::Length => call.length(),
            Function::Reverse => call.reverse(),
            Function::Max | Function::Min | Function::Sort => call.ordered(function),
            Function::MaxBy | Function::MinBy | Function::SortBy => call.ordered_by(function),
            Function::Keys => {
                let members = sorted(call.object(0)?.as_slice())?;
                Ok(array(members.into_iter().map(|member| Node::String(member.name)).collect()))
            }
            Function::Values => {
                let members = sorted(call.object(0)?.as_slice())?;
                Ok(array(members.into_iter().map(|member| member.value).collect()))
            }
            Function::Map => call.map(),
            Function::Merge => call.merge(),
            Function::NotNull => {
                let present = call.arguments.into_iter().find(|node| !matches!(node, Node::Null));
                Ok(present.unwrap_or(Node::Null))
            }
            Function::ToArray => match call.argument(0) {
                Node::Array(_) => Ok(call.argument(0).clone()),
                other => Ok(array(vec![other.clone()])),
            },
            Function::ToNumber => call.to_number(),
            Function::ToString => match call.argument(0) {
                Node::String(_) => Ok(call.argument(0).clone()),
                other => {
                    let text = canonical_node(other)?;
                    self.spend(text.len() / 64)?;
                    Ok(Node::String(Text::from(text)))
                }
            },
            Function::Type => Ok(Node::String(Text::borrowed(call.argument(0).type_name()))),
            Function::Header => call.header(),
            Function::PowertoolsJson | Function::PowertoolsBase64 | Function::PowertoolsBase64Gzip => {
                call.decode(function)
            }
        }
    }
}

impl<'e, 'a> Call<'e, 'a> {
    /// An argument, opened. The parser has checked how many there are.
    pub(super) fn argument(&self, position: usize) -> &Node<'a> {
        self.arguments.get(position).unwrap_or(&Node::Null)
    }

    pub(super) fn text(&self) -> String {
        self.evaluation.text(self.ast).to_owned()
    }

    /// What the expression looks at in the JSON that this call gives.
    pub(super) fn guide(&self) -> Option<Guide<'a>> {
        self.evaluation.plan.inside(self.ast)
    }

    pub(super) fn wrong_type<T>(
        &self,
        position: usize,
        expected: &'static str,
        found: &Node<'_>,
    ) -> Result<T, SelectError> {
        let found = found.type_name();
        Err(SelectError::WrongType { call: self.text(), argument: position + 1, expected, found })
    }

    pub(super) fn undecodable<T>(&self, reason: DecodeReason) -> Result<T, SelectError> {
        Err(SelectError::Undecodable { call: self.text(), reason })
    }

    pub(super) fn string(&self, position: usize) -> Result<Text<'a>, SelectError> {
        match self.argument(position) {
            Node::String(text) => Ok(text.clone()),
            other => self.wrong_type(position, "a string", other),
        }
    }

    pub(super) fn array(&self, position: usize) -> Result<Rc<Vec<Node<'a>>>, SelectError> {
        match self.argument(position) {
            Node::Array(elements) => {
                self.evaluation.spend(elements.len())?;
                Ok(Rc::clone(elements))
            }
            other => self.wrong_type(position, "an array", other),
        }
    }

    fn object(&self, position: usize) -> Result<Rc<Vec<Member<'a>>>, SelectError> {
        match self.argument(position) {
            Node::Object(members) => {
                self.evaluation.spend(members.len())?;
                Ok(Rc::clone(members))
            }
            other => self.wrong_type(position, "an object", other),
        }
    }

    /// Applies the argument that is an expression to a value.
    pub(super) fn apply(&self, position: usize, node: &Node<'a>) -> Value<'a> {
        match self.asts.get(position).map(|ast| &ast.kind) {
            Some(Kind::Reference(ast)) => Ok(self.evaluation.eval(ast, node)?.open()?),
            _ => Ok(Node::Null),
        }
    }

    fn map(&self) -> Value<'a> {
        let elements = self.array(1)?;
        let values = elements.iter().map(|element| self.apply(0, element));
        Ok(array(values.collect::<Result<_, _>>()?))
    }

    /// One object of several; a later one wins.
    fn merge(&self) -> Value<'a> {
        let mut all: Vec<(usize, Member<'a>)> = Vec::new();
        for position in 0..self.arguments.len() {
            all.extend(
                sorted(self.object(position)?.as_slice())?.into_iter().map(|member| (position, member)),
            );
        }
        all.sort_by(|(i, a), (j, b)| a.name.as_str().cmp(b.name.as_str()).then(j.cmp(i)));
        all.dedup_by(|(_, later), (_, kept)| later.name.as_str() == kept.name.as_str());
        Ok(Node::Object(Rc::new(all.into_iter().map(|(_, member)| member).collect())))
    }
}
