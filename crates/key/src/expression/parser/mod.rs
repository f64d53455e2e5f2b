//! Tokens as a tree: a top-down operator precedence parser for the JMESPath grammar.
//!
//! Our own and not a crate's: the messages need the exact place of every part, literals must keep
//! all their digits, and the depth must be bounded while parsing, not after the stack is gone.

mod brackets;
mod calls;

use super::ast::{Ast, Comparison, Kind};
use super::error::ExpressionError;
use super::lexer::{Spanned, Token, tokenize};

/// The longest expression, in bytes.
pub(crate) const MAX_BYTES: usize = 4096;

/// How deep the parts of an expression may nest.
pub(crate) const MAX_HEIGHT: usize = 100;

/// Below this binding power, a token ends a projection.
const PROJECTION_END: u8 = 10;

pub(crate) fn parse(text: &str) -> Result<Ast, ExpressionError> {
    if text.len() > MAX_BYTES {
        let problem = format!("the expression is longer than {MAX_BYTES} bytes");
        return Err(ExpressionError::new(text, MAX_BYTES, problem));
    }
    if text.trim().is_empty() {
        let cure = "name a member, or write \"@\" for the whole input";
        return Err(ExpressionError::new(text, 0, "the expression is empty").with_cure(cure));
    }
    let mut parser = Parser { text, tokens: tokenize(text)?, next: 0, depth: 0 };
    let ast = parser.expression(0)?;
    parser.not_reference(&ast)?;
    match parser.peek() {
        Token::End => Ok(ast),
        _ => Err(parser.unexpected()),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Spanned>,
    next: usize,
    /// How many calls of `expression` are under way.
    depth: usize,
}

type Parsed = Result<Ast, ExpressionError>;

/// How strongly a token binds what stands to its left.
fn power(token: &Token) -> u8 {
    match token {
        Token::Sign(sign) => match *sign {
            "|" => 1,
            "||" => 2,
            "&&" => 3,
            "==" | "!=" | "<" | "<=" | ">" | ">=" => 5,
            "[]" => 9,
            "*" => 20,
            "[?" => 21,
            "." => 40,
            "!" => 45,
            "{" => 50,
            "[" => 55,
            "(" => 60,
            _ => 0,
        },
        _ => 0,
    }
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].token
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    /// Consumes the next token, and says where it starts. The end token stays.
    fn advance(&mut self) -> Spanned {
        let token = self.tokens[self.next].clone();
        if token.token != Token::End {
            self.next += 1;
        }
        token
    }

    fn start(&self) -> usize {
        self.tokens[self.next].start
    }

    /// Where the token before this one ended.
    fn last_end(&self) -> usize {
        self.next.checked_sub(1).map_or(0, |last| self.tokens[last].end)
    }

    fn expect(&mut self, sign: &str) -> Result<(), ExpressionError> {
        if self.is(sign) {
            self.advance();
            return Ok(());
        }
        let problem = format!("expected `{sign}` here");
        Err(ExpressionError::new(self.text, self.start(), problem))
    }

    fn unexpected(&self) -> ExpressionError {
        let problem = match self.peek() {
            Token::End => "the expression ends too early",
            Token::Number(_) => "a number cannot stand here",
            _ => "this cannot stand here",
        };
        let error = ExpressionError::new(self.text, self.start(), problem);
        match self.peek() {
            Token::Number(number) if *number < 0 => {
                error.with_cure("a name with a hyphen must be quoted: headers.\"x-1\"")
            }
            Token::Number(_) => error.with_cure("write a number as `1`, with backticks"),
            _ => error,
        }
    }

    /// A node from `start` to the last token consumed, if it is not too high.
    fn node(&self, start: usize, kind: Kind) -> Parsed {
        let mut ast = Ast { kind, start, end: self.last_end(), height: 0 };
        if !matches!(ast.kind, Kind::Call(..)) {
            for child in ast.children() {
                self.not_reference(child)?;
            }
        }
        ast.height = 1 + ast.children().iter().map(|child| child.height).max().unwrap_or(0);
        if ast.height > MAX_HEIGHT { Err(self.too_deep(start)) } else { Ok(ast) }
    }

    fn not_reference(&self, ast: &Ast) -> Result<(), ExpressionError> {
        if !matches!(ast.kind, Kind::Reference(_)) {
            return Ok(());
        }
        let problem = "an `&expression` is only an argument of a function, such as `sort_by`";
        Err(ExpressionError::new(self.text, ast.start, problem))
    }

    fn too_deep(&self, at: usize) -> ExpressionError {
        let problem = format!("the expression nests deeper than {MAX_HEIGHT} levels");
        ExpressionError::new(self.text, at, problem)
    }

    fn expression(&mut self, binding: u8) -> Parsed {
        if self.depth >= MAX_HEIGHT {
            return Err(self.too_deep(self.start()));
        }
        self.depth += 1;
        let mut left = self.prefix();
        while let Ok(ast) = left {
            if binding >= power(self.peek()) {
                left = Ok(ast);
                break;
            }
            left = self.infix(ast);
        }
        self.depth -= 1;
        left
    }

    /// What can begin an expression.
    fn prefix(&mut self) -> Parsed {
        let start = self.start();
        let here = |parser: &Self| parser.node(start, Kind::Current).map(Box::new);
        if matches!(self.peek(), Token::End | Token::Number(_)) {
            return Err(self.unexpected());
        }
        match self.advance().token {
            Token::Name(name) if self.is("(") => self.call(start, &name),
            Token::Quoted(_) if self.is("(") => {
                let problem = "a function's name is not quoted";
                Err(ExpressionError::new(self.text, start, problem))
            }
            Token::Name(name) | Token::Quoted(name) => self.node(start, Kind::Field(name)),
            Token::Literal(json) => self.node(start, Kind::Literal(json)),
            Token::Sign("@") => self.node(start, Kind::Current),
            Token::Sign("*") => {
                let current = here(self)?;
                self.values(start, current)
            }
            Token::Sign("[]") => {
                let current = here(self)?;
                self.flatten(start, current)
            }
            Token::Sign("[?") => {
                let current = here(self)?;
                self.filter(start, current)
            }
            Token::Sign("[") => self.bracket(start),
            Token::Sign("{") => self.hash(start),
            Token::Sign("!") => {
                let operand = self.expression(45)?;
                self.node(start, Kind::Not(Box::new(operand)))
            }
            Token::Sign("&") => {
                let referred = self.expression(0)?;
                self.node(start, Kind::Reference(Box::new(referred)))
            }
            Token::Sign("(") => {
                let inner = self.expression(0)?;
                self.expect(")")?;
                Ok(inner)
            }
            _ => {
                self.next -= 1;
                Err(self.unexpected())
            }
        }
    }

    /// What can go on after a complete expression.
    fn infix(&mut self, left: Ast) -> Parsed {
        let start = left.start;
        let left = Box::new(left);
        let Token::Sign(sign) = self.advance().token else {
            self.next -= 1;
            return Err(self.unexpected());
        };
        match sign {
            "." => {
                if self.is("*") {
                    self.advance();
                    return self.values(start, left);
                }
                let right = self.after_dot(40)?;
                self.node(start, Kind::Then(left, Box::new(right)))
            }
            "|" => {
                let right = self.expression(1)?;
                self.node(start, Kind::Then(left, Box::new(right)))
            }
            "||" => {
                let right = self.expression(2)?;
                self.node(start, Kind::Or(left, Box::new(right)))
            }
            "&&" => {
                let right = self.expression(3)?;
                self.node(start, Kind::And(left, Box::new(right)))
            }
            "[" => self.index_or_star(start, left),
            "[]" => self.flatten(start, left),
            "[?" => self.filter(start, left),
            _ => {
                let comparison = match sign {
                    "==" => Comparison::Equal,
                    "!=" => Comparison::NotEqual,
                    "<" => Comparison::Less,
                    "<=" => Comparison::LessOrEqual,
                    ">" => Comparison::Greater,
                    ">=" => Comparison::GreaterOrEqual,
                    _ => {
                        self.next -= 1;
                        return Err(self.unexpected());
                    }
                };
                let right = self.expression(5)?;
                self.node(start, Kind::Compare(comparison, left, Box::new(right)))
            }
        }
    }
}
