//! What is wrong with an expression, where, and how to mend it.

use std::fmt;

/// An expression cannot be used.
///
/// Its text shows the expression with a caret under the place, and the cure where one is known.
///
/// ```
/// use lambda_idempotency_key::Expression;
/// let error = Expression::parse("headers.idempotency-key").unwrap_err();
/// assert_eq!(error.offset(), 19);
/// assert!(error.cure().unwrap().contains(r#"headers."idempotency-key""#));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    expression: String,
    offset: usize,
    problem: String,
    cure: Option<String>,
}

impl ExpressionError {
    pub(crate) fn new(expression: &str, offset: usize, problem: impl Into<String>) -> Self {
        Self { expression: expression.to_owned(), offset, problem: problem.into(), cure: None }
    }

    pub(crate) fn with_cure(mut self, cure: impl Into<String>) -> Self {
        self.cure = Some(cure.into());
        self
    }

    /// Where in the expression, in bytes from its start.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// What is wrong, in one sentence without the expression.
    #[must_use]
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// How to mend it, where that is known.
    #[must_use]
    pub fn cure(&self) -> Option<&str> {
        self.cure.as_deref()
    }
}

impl std::error::Error for ExpressionError {}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.problem)?;
        if let Some(cure) = &self.cure {
            write!(f, "; {cure}")?;
        }
        let (line, column) = line_around(&self.expression, self.offset);
        write!(f, "\n  {line}\n  {:column$}^", "")
    }
}

/// The line with the offset, at most 120 characters of it, and the column of the offset there.
fn line_around(expression: &str, offset: usize) -> (String, usize) {
    const BEFORE: usize = 80;
    const AFTER: usize = 40;
    let mut offset = offset.min(expression.len());
    while !expression.is_char_boundary(offset) {
        offset -= 1;
    }
    let (before, after) = expression.split_at(offset);
    let before = before.rsplit('\n').next().unwrap_or("");
    let after = after.split('\n').next().unwrap_or("");
    let skipped = before.chars().count().saturating_sub(BEFORE);
    let shown: String = before.chars().skip(skipped).chain(after.chars().take(AFTER)).map(visible).collect();
    (shown, before.chars().count() - skipped)
}

fn visible(character: char) -> char {
    if character.is_control() { ' ' } else { character }
}
