//! Function calls, checked against the table of functions, and lists of expressions.

use super::{ExpressionError, Kind, Parsed, Parser};
use crate::expression::ast::Ast;
use crate::expression::functions::Function;

impl Parser<'_> {
    pub(super) fn call(&mut self, start: usize, name: &str) -> Parsed {
        let Some(function) = Function::by_name(name) else {
            let error = ExpressionError::new(self.text, start, "there is no such function");
            return Err(match Function::similar(name) {
                Some(known) => error.with_cure(format!("did you mean `{known}`?")),
                None => error,
            });
        };
        self.advance();
        let arguments = self.list(")", true)?;
        let (fewest, most) = function.arity();
        if !(fewest..=most).contains(&arguments.len()) {
            let takes = if most == 255 { format!("{fewest} or more") } else { most.to_string() };
            let problem = format!("`{name}` takes {takes} argument(s), not {}", arguments.len());
            return Err(ExpressionError::new(self.text, start, problem));
        }
        for (position, argument) in arguments.iter().enumerate() {
            let wanted = function.reference() == position + 1;
            if wanted != matches!(argument.kind, Kind::Reference(_)) {
                let problem = if wanted { "expected an `&expression` here" } else { "no `&` here" };
                return Err(ExpressionError::new(self.text, argument.start, problem));
            }
        }
        self.node(start, Kind::Call(function, arguments))
    }

    /// Expressions between commas, up to the closing sign. References only where a function
    /// takes its arguments.
    pub(super) fn list(&mut self, close: &str, references: bool) -> Result<Vec<Ast>, ExpressionError> {
        let mut parts = Vec::new();
        if references && self.is(close) {
            self.advance();
            return Ok(parts);
        }
        loop {
            parts.push(self.expression(0)?);
            if !self.is(",") {
                self.expect(close)?;
                return Ok(parts);
            }
            self.advance();
        }
    }
}
