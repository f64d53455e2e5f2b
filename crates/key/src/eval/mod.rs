//! Applying an expression to an input.
//!
//! The input is read once, strictly; where the values stand that the expression names is remembered
//! while it is. Values are never copied, and every visit costs one step of a budget, so
//! that no expression on no input runs away.

mod compare;
mod decode;
mod functions;
mod header;
mod lists;
mod numbers;
mod strings;

use std::cell::Cell;
use std::rc::Rc;

use crate::expression::ast::{Ast, Kind};
use crate::expression::plan::Plan;
use crate::expression::select::SelectError;
use crate::json::error::CanonicalError;
use crate::json::node::{Member, Node, duplicate};
use crate::json::text::Text;

/// How many values one evaluation may visit.
const MAX_STEPS: u64 = 20_000_000;

/// One evaluation of one expression on one input.
pub(crate) struct Evaluation<'a> {
    expression: &'a str,
    plan: &'a Plan,
    json: &'a str,
    steps: Cell<u64>,
    /// Whether what other implementations read otherwise is an error.
    is_shared: bool,
}

type Value<'a> = Result<Node<'a>, SelectError>;

impl<'a> Evaluation<'a> {
    pub(crate) fn new(expression: &'a str, plan: &'a Plan, json: &'a str) -> Self {
        Self { expression, plan, json, steps: Cell::new(0), is_shared: false }
    }

    /// Refuses what other implementations read otherwise.
    pub(crate) fn shared(self) -> Self {
        Self { is_shared: true, ..self }
    }

    /// The selected value, and the text of each part that must be present and is not.
    pub(crate) fn run(&self, ast: &'a Ast) -> Result<(Node<'a>, Vec<String>), SelectError> {
        let root = Node::parse(Text::borrowed(self.json), self.plan.input())?;
        self.result(ast, &root)
    }

    /// Evaluates the part that makes the result. A multi-select there needs all its parts.
    fn result(&self, ast: &'a Ast, node: &Node<'a>) -> Result<(Node<'a>, Vec<String>), SelectError> {
        match &ast.kind {
            Kind::Then(left, right) => {
                // What is missing on the way there is missing in the end; to look for it would read it all again.
                let left = self.eval(left, node)?;
                let (value, parts) = self.result(right, &left)?;
                let whole = matches!(parts.as_slice(), [only] if only == self.text(right));
                Ok((value, if whole { vec![self.text(ast).to_owned()] } else { parts }))
            }
            Kind::Or(left, right) => {
                let (value, parts) = self.result(left, node)?;
                if is_true(&value)? { Ok((value, parts)) } else { self.result(right, node) }
            }
            Kind::And(left, right) => {
                let (value, parts) = self.result(left, node)?;
                if is_true(&value)? { self.result(right, node) } else { Ok((value, parts)) }
            }
            Kind::List(parts) => {
                let mut missing = Vec::new();
                let mut values = Vec::new();
                let node = &node.shared()?;
                if node.type_name() == "null" {
                    return Ok((Node::Null, vec![self.text(ast).to_owned()]));
                }
                for part in parts {
                    let value = self.eval(part, node)?;
                    missing.extend(self.missing_whole(part, &value)?);
                    values.push(value);
                }
                Ok((Node::Array(Rc::new(values)), missing))
            }
            Kind::Hash(parts) => {
                let mut missing = Vec::new();
                let mut members = Vec::new();
                let node = &node.shared()?;
                if node.type_name() == "null" {
                    return Ok((Node::Null, vec![self.text(ast).to_owned()]));
                }
                for (name, part) in parts {
                    let value = self.eval(part, node)?;
                    missing.extend(self.missing_whole(part, &value)?);
                    members.push(Member::made(name, value));
                }
                Ok((Node::Object(Rc::new(members)), missing))
            }
            _ => {
                let value = self.eval(ast, node)?;
                let parts = self.missing_whole(ast, &value)?;
                Ok((value, parts))
            }
        }
    }

    fn missing_whole(&self, ast: &Ast, value: &Node<'a>) -> Result<Vec<String>, SelectError> {
        Ok(if value.is_missing()? { vec![self.text(ast).to_owned()] } else { Vec::new() })
    }

    /// The text of a part of the expression.
    fn text(&self, ast: &Ast) -> &'a str {
        self.expression.get(ast.start..ast.end).unwrap_or(self.expression).trim()
    }

    /// Counts work that is about to be done.
    fn spend(&self, steps: usize) -> Result<(), SelectError> {
        let spent = self.steps.get().saturating_add(steps as u64);
        self.steps.set(spent);
        if spent > MAX_STEPS {
            return Err(SelectError::TooMuchWork { limit: MAX_STEPS });
        }
        Ok(())
    }

    fn eval(&self, ast: &'a Ast, node: &Node<'a>) -> Value<'a> {
        self.spend(1)?;
        match &ast.kind {
            Kind::Current => Ok(node.clone()),
            Kind::Field(name) => Ok(node.member(name)?.reached()?),
            Kind::Literal(json) => Ok(Node::Raw(Text::borrowed(json), None).open()?),
            Kind::Then(left, right) => {
                let left = self.eval(left, node)?;
                self.eval(right, &left)
            }
            Kind::Or(left, right) => {
                let value = self.eval(left, node)?;
                if is_true(&value)? { Ok(value) } else { self.eval(right, node) }
            }
            Kind::And(left, right) => {
                let value = self.eval(left, node)?;
                if is_true(&value)? { self.eval(right, node) } else { Ok(value) }
            }
            Kind::Not(operand) => Ok(Node::Bool(!is_true(&self.eval(operand, node)?)?)),
            Kind::Compare(comparison, left, right) => {
                let (left, right) = (self.eval(left, node)?, self.eval(right, node)?);
                self.compare(*comparison, &left, &right)
            }
            Kind::Call(function, arguments) => self.call(*function, ast, arguments, node),
            Kind::List(_) | Kind::Hash(_) => self.multi_select(ast, node),
            _ => self.project(ast, node),
        }
    }

    fn multi_select(&self, ast: &'a Ast, node: &Node<'a>) -> Value<'a> {
        let node = &node.shared()?;
        if node.type_name() == "null" {
            return Ok(Node::Null);
        }
        match &ast.kind {
            Kind::List(parts) => {
                let values = parts.iter().map(|part| self.eval(part, node));
                Ok(Node::Array(Rc::new(values.collect::<Result<_, _>>()?)))
            }
            Kind::Hash(parts) => {
                let members = parts.iter().map(|(name, part)| Ok(Member::made(name, self.eval(part, node)?)));
                Ok(Node::Object(Rc::new(members.collect::<Result<_, SelectError>>()?)))
            }
            _ => Ok(Node::Null),
        }
    }
}

/// Everything counts as true but null, `false`, and what is empty.
fn is_true(node: &Node<'_>) -> Result<bool, CanonicalError> {
    Ok(match node.type_name() {
        "null" => false,
        "boolean" => matches!(node.open()?, Node::Bool(true)),
        _ => !node.is_empty(),
    })
}

/// An object's members by name: what is made of them must not depend on their order in the text.
fn sorted<'a>(members: &[Member<'a>]) -> Result<Vec<Member<'a>>, CanonicalError> {
    let mut members = members.to_vec();
    members.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
    let twice = members.windows(2).find(|pair| pair[0].name.as_str() == pair[1].name.as_str());
    if let Some(pair) = twice {
        return Err(duplicate(pair[1].at));
    }
    Ok(members)
}
