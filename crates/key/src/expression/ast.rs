//! The parsed expression. Every node knows which part of the text it came from.

use super::functions::Function;

/// One node of an expression.
#[derive(Clone, Debug)]
pub(crate) struct Ast {
    pub(crate) kind: Kind,
    /// Where its text begins and ends, in bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The longest way down. Bounded, because everything that walks the tree recurses.
    pub(crate) height: usize,
}

/// What a node does with the current value.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// `@`
    Current,
    /// A member by name.
    Field(String),
    /// An element by position, from the end if negative.
    Index(i64),
    /// `[start:stop:step]`
    Slice { start: Option<i64>, stop: Option<i64>, step: i64 },
    /// A value written in the expression, as checked JSON text.
    Literal(String),
    /// `[a, b]`
    List(Vec<Ast>),
    /// `{x: a, y: b}`
    Hash(Vec<(String, Ast)>),
    /// `!a`
    Not(Box<Ast>),
    /// `a == b` and so on.
    Compare(Comparison, Box<Ast>, Box<Ast>),
    /// `a && b`
    And(Box<Ast>, Box<Ast>),
    /// `a || b`
    Or(Box<Ast>, Box<Ast>),
    /// `a.b`, `a[0]`, `a | b`: the right side looks at what the left side selected.
    Then(Box<Ast>, Box<Ast>),
    /// The right side for each element of the array on the left.
    Each(Box<Ast>, Box<Ast>),
    /// The second for each element of the first for which the predicate (third) is true.
    Filter(Box<Ast>, Box<Ast>, Box<Ast>),
    /// The values of an object.
    Values(Box<Ast>),
    /// Arrays inside an array, opened by one level.
    Flatten(Box<Ast>),
    /// `f(a, b)`
    Call(Function, Vec<Ast>),
    /// `&a`, only as an argument of a function that takes one.
    Reference(Box<Ast>),
}

/// The comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Ast {
    /// The nodes directly below, in the order of the text.
    pub(crate) fn children(&self) -> Vec<&Ast> {
        match &self.kind {
            Kind::Current | Kind::Field(_) | Kind::Index(_) | Kind::Slice { .. } | Kind::Literal(_) => {
                Vec::new()
            }
            Kind::List(parts) | Kind::Call(_, parts) => parts.iter().collect(),
            Kind::Hash(parts) => parts.iter().map(|(_, part)| part).collect(),
            Kind::Not(a) | Kind::Values(a) | Kind::Flatten(a) | Kind::Reference(a) => vec![a],
            Kind::Compare(_, a, b)
            | Kind::And(a, b)
            | Kind::Or(a, b)
            | Kind::Then(a, b)
            | Kind::Each(a, b) => vec![a, b],
            Kind::Filter(a, b, c) => vec![a, c, b],
        }
    }
}
