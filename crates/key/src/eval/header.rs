//! `header(headers, 'idempotency-key')`: header names have no case, JSON members do.

use super::Value;
use super::functions::Call;
use crate::expression::select::DecodeReason;
use crate::json::node::Node;

impl<'a> Call<'_, 'a> {
    /// API Gateway v1 and an ALB with multi-value headers keep the client's case and may carry
    /// lists; API Gateway v2, function URLs and an ALB lower the names. A header that is there
    /// twice with one value is that value; with two values there is no telling which is meant.
    pub(super) fn header(&self) -> Value<'a> {
        let name = self.string(1)?;
        let members = match self.argument(0) {
            Node::Null => return Ok(Node::Null),
            Node::Object(members) => members,
            other => return self.wrong_type(0, "the object of headers", other),
        };
        self.evaluation.spend(members.len())?;
        let mut found: Option<Node<'a>> = None;
        for member in members.iter() {
            if !member.name.as_str().eq_ignore_ascii_case(name.as_str()) {
                continue;
            }
            let value = member.value.open()?;
            let values = match &value {
                Node::Array(values) => values.as_slice(),
                single => std::slice::from_ref(single),
            };
            for value in values {
                let value = value.open()?;
                match &found {
                    Some(known) if !self.evaluation.equal(known, &value)? => {
                        return self.undecodable(DecodeReason::RepeatedHeader);
                    }
                    _ => found = Some(value),
                }
            }
        }
        Ok(found.unwrap_or(Node::Null))
    }
}
