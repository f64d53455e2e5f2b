//! Equality of any two values, and order of two numbers.

use std::cmp::Ordering;

use super::{Evaluation, Value};
use crate::expression::ast::Comparison;
use crate::expression::select::SelectError;
use crate::json::canonical::canonical_node;
use crate::json::node::Node;
use crate::number::Decimal;

impl<'a> Evaluation<'a> {
    pub(super) fn compare(&self, comparison: Comparison, left: &Node<'a>, right: &Node<'a>) -> Value<'a> {
        match comparison {
            Comparison::Equal => Ok(Node::Bool(self.equal(left, right)?)),
            Comparison::NotEqual => Ok(Node::Bool(!self.equal(left, right)?)),
            Comparison::Less => ordered(left, right, Ordering::is_lt),
            Comparison::LessOrEqual => ordered(left, right, Ordering::is_le),
            Comparison::Greater => ordered(left, right, Ordering::is_gt),
            Comparison::GreaterOrEqual => ordered(left, right, Ordering::is_ge),
        }
    }

    /// Equal means equal canonical forms.
    pub(super) fn equal(&self, left: &Node<'a>, right: &Node<'a>) -> Result<bool, SelectError> {
        if left.type_name() != right.type_name() {
            return Ok(false);
        }
        if matches!(left.type_name(), "array" | "object") {
            let (left, right) = (canonical_node(left)?, canonical_node(right)?);
            self.spend((left.len() + right.len()) / 64)?;
            return Ok(left == right);
        }
        Ok(match (left.open()?, right.open()?) {
            (Node::Bool(a), Node::Bool(b)) => a == b,
            (Node::String(a), Node::String(b)) => a.as_str() == b.as_str(),
            (Node::Number(a), Node::Number(b)) => Decimal::parse(a.as_str()) == Decimal::parse(b.as_str()),
            _ => true, // both are null
        })
    }
}

/// Only numbers have an order; anything else compares as null.
fn ordered<'a>(left: &Node<'a>, right: &Node<'a>, is: fn(Ordering) -> bool) -> Value<'a> {
    if [left.type_name(), right.type_name()] != ["number"; 2] {
        return Ok(Node::Null);
    }
    Ok(match (left.open()?, right.open()?) {
        (Node::Number(a), Node::Number(b)) => {
            Node::Bool(is(Decimal::parse(a.as_str()).cmp(&Decimal::parse(b.as_str()))))
        }
        _ => Node::Null,
    })
}
