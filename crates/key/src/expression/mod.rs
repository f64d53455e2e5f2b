//! A checked JMESPath expression, and what it selects.

pub(crate) mod ast;
pub(crate) mod error;
pub(crate) mod functions;
mod lexer;
mod parser;
pub(crate) mod plan;
pub(crate) mod select;

use std::fmt;
use std::sync::Arc;

use ast::{Ast, Kind};
use error::ExpressionError;
use plan::Plan;
use select::{SelectError, Selection};

use crate::eval::Evaluation;
use crate::json::canonical::{canonical_content, canonical_node};
use crate::json::node::Node;

/// A JMESPath expression that has been checked: syntax, functions, argument counts, limits.
///
/// All of standard JMESPath, and these functions:
///
/// | function | gives |
/// |---|---|
/// | `header(headers, 'idempotency-key')` | the header of that name, whatever its case; works on the `headers` of API Gateway v1 and v2, ALB and function URLs and on `multiValueHeaders` |
/// | `powertools_json(text)` | the JSON inside a string |
/// | `powertools_base64(text)` | the text inside base64 |
/// | `powertools_base64_gzip(text)` | the text inside gzip inside base64, at most 8 MiB |
///
/// Each of them gives null for null, and a typed error for anything that it cannot read. For a key
/// from a header behind any of the four, write `header(multiValueHeaders || headers, 'idempotency-key')`.
///
/// # What the standard leaves open, and limits
///
/// Every case of the official JMESPath compliance suite gives its documented result. Beyond it:
///
/// - Unknown functions and wrong numbers of arguments are errors of the expression, not of an input;
///   so are a step of 0 in a slice and a name that is there twice in `{a: x, a: y}`.
/// - Numbers are exact decimals of any size, in literals too. `avg` is cut after 34 significant
///   digits where the quotient does not end.
/// - `*`, `keys` and `values` go through an object in the order of its names, so that the order of
///   the members in the text makes no difference.
/// - An object that has the member that is looked up twice is an error.
/// - An expression has at most 4,096 bytes and nests at most 100 levels deep; JSON nests at most 128
///   levels deep; one evaluation visits at most 20 million values and selects at most 32 MiB.
///
/// Cloning is cheap.
///
/// ```
/// use lambda_idempotency_key::Expression;
/// let ids = Expression::parse("items[?qty >= `2`].id")?;
/// let selection = ids.select(r#"{"items":[{"id":"a","qty":2},{"id":"b","qty":1}]}"#)?;
/// assert_eq!(selection.as_str(), r#"["a"]"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Expression {
    inner: Arc<Parsed>,
}

struct Parsed {
    text: String,
    ast: Ast,
    plan: Plan,
}

impl Expression {
    /// Checks an expression.
    ///
    /// # Errors
    ///
    /// [`ExpressionError`] with the place and, where it is known, the cure.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        parser::parse(text).map(|ast| Self::of(text, ast))
    }

    fn of(text: &str, ast: Ast) -> Self {
        let plan = Plan::of(&ast);
        Self { inner: Arc::new(Parsed { text: text.to_owned(), ast, plan }) }
    }

    /// `@`.
    pub(crate) fn everything() -> Self {
        Self::of("@", Ast { kind: Kind::Current, start: 0, end: 1, height: 1 })
    }

    /// The expression as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.inner.text
    }

    /// Selects from a JSON text. The whole text is checked, once; beyond that only the parts that
    /// the expression names are looked at.
    ///
    /// # Errors
    ///
    /// [`SelectError`] if the text is not JSON with one meaning, or a function of the expression
    /// cannot be applied to what it is given.
    pub fn select(&self, json: &str) -> Result<Selection, SelectError> {
        if matches!(self.ast().kind, Kind::Current) {
            let (canonical, says_something) = canonical_content(json)?;
            let missing = if says_something { Vec::new() } else { vec!["@".to_owned()] };
            return Ok(Selection::new(canonical, missing));
        }
        let (node, parts) = self.evaluation(json).run(self.ast())?;
        Ok(Selection::new(canonical_node(&node)?, parts))
    }

    /// As [`Expression::select`], with the value in another spelling; what other implementations read otherwise is an
    /// error.
    pub(crate) fn select_shared(
        &self,
        json: &str,
        write: impl FnOnce(&Node<'_>) -> Result<String, SelectError>,
    ) -> Result<Selection, SelectError> {
        let (node, parts) = self.evaluation(json).shared().run(self.ast())?;
        Ok(Selection::new(write(&node)?, parts))
    }

    fn evaluation<'a>(&'a self, json: &'a str) -> Evaluation<'a> {
        Evaluation::new(self.as_str(), &self.inner.plan, json)
    }

    pub(crate) fn ast(&self) -> &Ast {
        &self.inner.ast
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.as_str()).finish()
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Expression {}
