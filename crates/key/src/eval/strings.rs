//! Functions on strings, and the two that take strings or arrays.

use super::Value;
use super::functions::Call;
use super::lists::array;
use crate::expression::functions::Function;
use crate::expression::select::SelectError;
use crate::json::node::Node;
use crate::json::text::Text;

impl<'a> Call<'_, 'a> {
    /// `contains`, `starts_with` and `ends_with`.
    pub(super) fn find(&self, function: Function) -> Value<'a> {
        if function == Function::Contains {
            return self.contains();
        }
        let (text, part) = (self.string(0)?, self.string(1)?);
        let (text, part) = (text.as_str(), part.as_str());
        Ok(Node::Bool(match function {
            Function::StartsWith => text.starts_with(part),
            _ => text.ends_with(part),
        }))
    }

    fn contains(&self) -> Value<'a> {
        match (self.argument(0), self.argument(1)) {
            (Node::String(text), Node::String(part)) => {
                self.evaluation.spend(text.as_str().len() / 64)?;
                Ok(Node::Bool(text.as_str().contains(part.as_str())))
            }
            (Node::String(_), _) => Ok(Node::Bool(false)),
            (Node::Array(elements), wanted) => {
                self.evaluation.spend(elements.len())?;
                for element in elements.iter() {
                    if self.evaluation.equal(element, wanted)? {
                        return Ok(Node::Bool(true));
                    }
                }
                Ok(Node::Bool(false))
            }
            (other, _) => self.wrong_type(0, "a string or an array", other),
        }
    }

    pub(super) fn join(&self) -> Value<'a> {
        let glue = self.string(0)?;
        let mut joined = String::new();
        for (position, element) in self.array(1)?.iter().enumerate() {
            if position > 0 {
                joined.push_str(glue.as_str());
            }
            match element.open()? {
                Node::String(text) => joined.push_str(text.as_str()),
                other => return self.wrong_type(1, "an array of strings", &other),
            }
            self.evaluation.spend(glue.as_str().len() / 64)?;
        }
        self.evaluation.spend(joined.len() / 8)?;
        Ok(Node::String(Text::from(joined)))
    }

    pub(super) fn length(&self) -> Value<'a> {
        let length = match self.argument(0) {
            Node::String(text) => text.as_str().chars().count(),
            Node::Array(elements) => elements.len(),
            Node::Object(members) => super::sorted(members)?.len(),
            other => return self.wrong_type(0, "a string, an array or an object", other),
        };
        Ok(Node::Number(Text::from(length.to_string())))
    }

    pub(super) fn reverse(&self) -> Value<'a> {
        match self.argument(0) {
            Node::String(text) => {
                let reversed: String = text.as_str().chars().rev().collect();
                self.spend_text(&reversed)?;
                Ok(Node::String(Text::from(reversed)))
            }
            Node::Array(_) => Ok(array(self.array(0)?.iter().rev().cloned().collect())),
            other => self.wrong_type(0, "a string or an array", other),
        }
    }

    fn spend_text(&self, text: &str) -> Result<(), SelectError> {
        self.evaluation.spend(text.len() / 64)
    }
}
