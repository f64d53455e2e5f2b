//! What stands in brackets, and what a projection applies to each element.

use super::{ExpressionError, Kind, PROJECTION_END, Parsed, Parser, Token, power};
use crate::expression::ast::Ast;

impl Parser<'_> {
    /// After `[` at the beginning: a position, a slice, `[*]` or a multi-select list.
    pub(super) fn bracket(&mut self, start: usize) -> Parsed {
        let star =
            self.is("*") && matches!(self.tokens.get(self.next + 1), Some(t) if t.token == Token::Sign("]"));
        if star || self.is(":") || matches!(self.peek(), Token::Number(_)) {
            let current = Box::new(self.node(start, Kind::Current)?);
            return self.index_or_star(start, current);
        }
        let parts = self.list("]", false)?;
        self.node(start, Kind::List(parts))
    }

    /// After `[` behind an expression: a position, a slice or `[*]`.
    pub(super) fn index_or_star(&mut self, start: usize, left: Box<Ast>) -> Parsed {
        if self.is("*") {
            self.advance();
            self.expect("]")?;
            let each = self.projected(20)?;
            return self.node(start, Kind::Each(left, Box::new(each)));
        }
        let from = self.start();
        let mut numbers = [None; 3];
        let mut colons = 0;
        while !self.is("]") {
            let at = self.start();
            match self.advance().token {
                Token::Number(number) if numbers[colons].is_none() => {
                    numbers[colons] = Some(number);
                    if !self.is(":") && !self.is("]") {
                        return Err(self.unexpected());
                    }
                }
                Token::Sign(":") if colons < 2 => colons += 1,
                token => {
                    let problem = "expected a position, a slice such as `0:2`, or `*` here";
                    let error = ExpressionError::new(self.text, at, problem);
                    return Err(match token {
                        Token::Literal(_) => error.with_cure("a member is named after a dot, as in `a.b`"),
                        _ => error,
                    });
                }
            }
        }
        self.advance();
        let [first, stop, step] = numbers;
        if colons == 0 {
            let Some(index) = first else {
                return Err(ExpressionError::new(self.text, from, "expected a position here"));
            };
            let index = Box::new(self.node(from - 1, Kind::Index(index))?);
            return self.node(start, Kind::Then(left, index));
        }
        let step = step.unwrap_or(1);
        if step == 0 {
            return Err(ExpressionError::new(self.text, from, "the step of a slice cannot be 0"));
        }
        let slice = self.node(from - 1, Kind::Slice { start: first, stop, step })?;
        let sliced = self.node(start, Kind::Then(left, Box::new(slice)))?;
        let each = self.projected(20)?;
        self.node(start, Kind::Each(Box::new(sliced), Box::new(each)))
    }

    /// After `{`: a multi-select hash.
    pub(super) fn hash(&mut self, start: usize) -> Parsed {
        let mut parts: Vec<(String, Ast)> = Vec::new();
        loop {
            let at = self.start();
            let (Token::Name(name) | Token::Quoted(name)) = self.advance().token else {
                let problem = "expected a name for this part here, as in `{name: member}`";
                return Err(ExpressionError::new(self.text, at, problem));
            };
            if parts.iter().any(|(known, _)| *known == name) {
                return Err(ExpressionError::new(self.text, at, "this name is already taken"));
            }
            self.expect(":")?;
            let part = self.expression(0)?;
            parts.push((name, part));
            if !self.is(",") {
                break;
            }
            self.advance();
        }
        self.expect("}")?;
        self.node(start, Kind::Hash(parts))
    }

    pub(super) fn values(&mut self, start: usize, left: Box<Ast>) -> Parsed {
        let values = self.node(start, Kind::Values(left))?;
        let each = self.projected(20)?;
        self.node(start, Kind::Each(Box::new(values), Box::new(each)))
    }

    pub(super) fn flatten(&mut self, start: usize, left: Box<Ast>) -> Parsed {
        let flat = self.node(start, Kind::Flatten(left))?;
        let each = self.projected(9)?;
        self.node(start, Kind::Each(Box::new(flat), Box::new(each)))
    }

    pub(super) fn filter(&mut self, start: usize, left: Box<Ast>) -> Parsed {
        let predicate = self.expression(0)?;
        self.expect("]")?;
        let each = self.projected(21)?;
        self.node(start, Kind::Filter(left, Box::new(each), Box::new(predicate)))
    }

    /// What follows a projection and is applied to each of its elements.
    fn projected(&mut self, binding: u8) -> Parsed {
        if self.is(".") {
            self.advance();
            self.after_dot(binding)
        } else if power(self.peek()) < PROJECTION_END {
            let end = self.last_end();
            self.node(end, Kind::Current)
        } else if self.is("[") || self.is("[?") {
            // Also a multi-select without a dot, as the reference implementation has it.
            self.expression(binding)
        } else {
            Err(self.unexpected())
        }
    }

    /// After a dot: a member, a multi-select, a function or `*`.
    pub(super) fn after_dot(&mut self, binding: u8) -> Parsed {
        match self.peek() {
            Token::Name(_) | Token::Quoted(_) | Token::Sign("*") => self.expression(binding),
            Token::Sign("[") => {
                let start = self.start();
                self.advance();
                let parts = self.list("]", false)?;
                self.node(start, Kind::List(parts))
            }
            // Neither goes on within a projection: what follows looks at the list, as in Python.
            Token::Sign("{") => {
                let start = self.start();
                self.advance();
                self.hash(start)
            }
            Token::Number(number) if *number < 0 => Err(self.unexpected()),
            _ => {
                let problem = "expected a member name, `[a, b]`, `{x: a}` or `*` after the dot";
                Err(ExpressionError::new(self.text, self.start(), problem))
            }
        }
    }
}
