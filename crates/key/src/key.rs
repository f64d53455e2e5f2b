//! The rules for what a key may be.

use std::fmt;

use crate::expression::Expression;
use crate::expression::error::ExpressionError;
use crate::expression::select::{SelectError, Selection};
use crate::volatile::{self, Purpose};

/// An expression that says which work an input asks for.
///
/// What it selects must say something: null, an empty string, and an array or object without
/// anything else in it are *missing*, which is an error and never a key that everyone shares. `0`
/// and `false` are values. Where the expression ends in `[a, b]` or `{x: a, y: b}`, every part must
/// be present; an optional part is written `x || 'none'`.
///
/// A part that is new at every delivery of the same work is refused, because such a key never finds
/// a record: `receiptHandle`, `attributes.Approximate…`, `requestContext.requestId` (also
/// `extendedRequestId` and the times), the headers `x-amzn-trace-id`, `x-amzn-requestid` and
/// `x-amz-cf-id`, and EventBridge Scheduler's `"aws.scheduler.execution-id"`. So are ids that a
/// broker gives (`Records[].messageId`, `attributes.SentTimestamp`, `Sns.MessageId`, `kinesis.sequenceNumber`): a producer that
/// sends again gets another. So is an object or a list as a whole that holds one of these
/// (`requestContext`, `requestContext.*`, `Records[0]`, `Records[0].attributes`, `multiValueHeaders`).
///
/// A plain name may be the producer's own: a bare `messageId` is allowed, and `headers`, `attributes` and
/// `id` are refused only where the expression names a member that AWS alone writes as well, as in
/// `[httpMethod, headers]` and `["detail-type", id]`. [`Key::parse_allowing_volatile`] refuses none.
///
/// ```
/// use lambda_idempotency_key::{Key, KeyError};
/// let key = Key::parse("[order_id, version]")?;
/// assert_eq!(key.of(r#"{"order_id": 7, "version": 1}"#)?, key.of(r#"{"version": 1.0, "order_id": 7}"#)?);
/// let error = key.of(r#"{"order_id": 7}"#).unwrap_err();
/// assert!(matches!(error, KeyError::Missing { parts, .. } if parts == ["version"]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(Expression);

impl Key {
    /// Checks an expression for use as a key. `@` is the whole input.
    ///
    /// # Errors
    ///
    /// [`ExpressionError`] if it is no expression, or selects what is new at every delivery.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let expression = Expression::parse(text)?;
        volatile::check(&expression, Purpose::Key)?;
        Ok(Self(expression))
    }

    /// Checks an expression, and lets it select what is new at every delivery.
    ///
    /// # Errors
    ///
    /// [`ExpressionError`] if it is no expression.
    pub fn parse_allowing_volatile(text: &str) -> Result<Self, ExpressionError> {
        Expression::parse(text).map(Self)
    }

    /// The expression as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The key of an input.
    ///
    /// # Errors
    ///
    /// [`KeyError::Missing`] if the input does not say which work it is, [`KeyError::Invalid`] if it
    /// cannot be read.
    pub fn of(&self, json: &str) -> Result<KeyValue, KeyError> {
        self.taken(self.0.select(json)).map(KeyValue)
    }

    pub(crate) fn expression(&self) -> &Expression {
        &self.0
    }

    /// What was selected, if it says which work it is.
    pub(crate) fn taken(&self, selected: Result<Selection, SelectError>) -> Result<String, KeyError> {
        let expression = || self.as_str().to_owned();
        let selection = match selected {
            Ok(selection) => selection,
            Err(reason) => {
                return Err(KeyError::Invalid { expression: expression(), reason });
            }
        };
        if selection.is_missing() {
            let parts = selection.missing_parts().to_vec();
            return Err(KeyError::Missing { expression: expression(), parts });
        }
        Ok(selection.into_canonical())
    }
}

/// The value of a key: canonical JSON. It may be personal data, so it has no `Display`, and `Debug`
/// does not show it.
///
/// ```
/// let key = lambda_idempotency_key::Key::parse("email")?.of(r#"{"email":"a@example.com"}"#)?;
/// assert_eq!(format!("{key:?}"), "KeyValue(…)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct KeyValue(String);

impl KeyValue {
    /// The canonical JSON. Do not log it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for KeyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyValue(…)")
    }
}

/// An input has no usable key or fingerprint. Never shows a value of the input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The input does not say which work it is.
    #[error("{}", missing_text(.expression, .parts))]
    Missing {
        /// The whole expression.
        expression: String,
        /// The text of each part of it that selects nothing.
        parts: Vec<String>,
    },
    /// The input cannot be read where it is compared, or the fingerprint's expression cannot be applied to it.
    #[error("the fingerprint `{expression}` cannot be taken from this input: {reason}")]
    InvalidFingerprint {
        /// The whole expression; `@` where none is given.
        expression: String,
        /// What is wrong, and where.
        #[source]
        reason: SelectError,
    },
    /// The input cannot be read, or the expression cannot be applied to it.
    #[error("`{expression}` cannot be taken from this input: {reason}")]
    Invalid {
        /// The whole expression.
        expression: String,
        /// What is wrong, and where.
        #[source]
        reason: SelectError,
    },
}

fn missing_text(expression: &str, parts: &[String]) -> String {
    let nothing = "nothing in this input (null, an empty string, or a list without content)";
    match parts {
        // A default for the whole key would be one key for every input without one.
        [] => format!("the key `{expression}` selects {nothing}; send it"),
        [only] if only == expression => {
            let hint = hint(parts);
            format!("the key `{expression}` selects {nothing}; send it, or select what is always there{hint}")
        }
        [first, ..] => {
            let listed = parts.iter().map(|part| format!("`{part}`")).collect::<Vec<_>>().join(", ");
            let select = if parts.len() == 1 { "selects" } else { "select" };
            let default = if quoted_default(first).is_some() { "x" } else { first.as_str() };
            format!(
                "the key `{expression}` is not complete: {listed} {select} {nothing}; send it, or write \
                 an optional part with a default, as in `{default} || 'none'`{}",
                hint(parts)
            )
        }
    }
}

/// What was probably meant.
fn hint(parts: &[String]) -> String {
    if let Some(quoted) = parts.iter().find_map(|part| quoted_default(part)) {
        return format!(" ({quoted} names a member: a text stands in single quotes)");
    }
    match parts.iter().find_map(|part| inside_a_text(part)) {
        Some((text, member)) => {
            format!(" (if `{text}` is a text, open it: `powertools_json({text}).{member}`)")
        }
        None => String::new(),
    }
}

/// What stands last, if it is a name in quotes that needs none.
fn quoted_default(part: &str) -> Option<&str> {
    let last = part.rsplit("||").next()?.trim();
    let name = last.strip_prefix('"')?.strip_suffix('"')?;
    (!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')).then_some(last)
}

/// A member of `body` and the like, which are texts in events of AWS, and what it is a member of.
fn inside_a_text(part: &str) -> Option<(&str, &str)> {
    let dots = part.match_indices('.').map(|(dot, _)| part.split_at(dot));
    let mut texts = dots.filter(|(text, _)| {
        let last = text.rsplit('.').next().unwrap_or(text);
        ["body", "Message", "data"].contains(&last)
    });
    texts.next().map(|(text, member)| (text, &member[1..]))
}
