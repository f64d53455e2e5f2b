//! Equality of any two values, and order of two numbers.

use super::{Evaluation, Value};
use crate::expression::ast::Comparison;
use crate::expression::select::SelectError;
use crate::json::canonical::canonical_node;
use crate::json::node::Node;
use crate::number::Decimal;

impl<'a> Evaluation<'a> {
    pub(super) fn compare(&self, comparison: Comparison, left: &Node<'a>, right: &Node<'a>) -> Value<'a> {
        let order = match (left.open()?, right.open()?) {
            (Node::Number(a), Node::Number(b)) => {
                Some(Decimal::parse(a.as_str()).cmp(&Decimal::parse(b.as_str())))
            }
            _ => None,
        };
        Ok(match comparison {
            Comparison::Equal => Node::Bool(self.equal(left, right)?),
            Comparison::NotEqual => Node::Bool(!self.equal(left, right)?),
            // Only numbers have an order; anything else compares as null.
            Comparison::Less => order.map_or(Node::Null, |order| Node::Bool(order.is_lt())),
            Comparison::LessOrEqual => order.map_or(Node::Null, |order| Node::Bool(order.is_le())),
            Comparison::Greater => order.map_or(Node::Null, |order| Node::Bool(order.is_gt())),
            Comparison::GreaterOrEqual => order.map_or(Node::Null, |order| Node::Bool(order.is_ge())),
        })
    }

    /// Equal means equal canonical forms.
    pub(super) fn equal(&self, left: &Node<'a>, right: &Node<'a>) -> Result<bool, SelectError> {
        if left.type_name() != right.type_name() {
            return Ok(false);
        }
        Ok(match (left.open()?, right.open()?) {
            (Node::Null, Node::Null) => true,
            (Node::Bool(a), Node::Bool(b)) => a == b,
            (Node::String(a), Node::String(b)) => a.as_str() == b.as_str(),
            (Node::Number(a), Node::Number(b)) => Decimal::parse(a.as_str()) == Decimal::parse(b.as_str()),
            (a, b) => {
                let (a, b) = (canonical_node(&a)?, canonical_node(&b)?);
                self.spend((a.len() + b.len()) / 64)?;
                a == b
            }
        })
    }
}
