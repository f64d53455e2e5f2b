//! A fingerprint in the form in which records keep it.

use std::fmt;

use crate::hash::{hash, same};
use crate::secret::Secret;

const RULE_LABEL: &[u8] = b"lambda-idempotency rule 1";
const CONTENT_LABEL: &[u8] = b"lambda-idempotency content 1";

/// Part of the rule where there is a secret: with and without one, contents do not compare.
const KEYED: &[u8] = b"keyed";

/// How many digits of the rule's hash are kept.
const RULE_DIGITS: usize = 8;

/// A fingerprint as records keep it: `1:<8 hex of the rule>:<64 hex of the content>`.
///
/// The rule is the fingerprint's expression, the recognised source, and whether there is a secret. It is
/// part of the text so that content is only ever compared with content that was taken by the same rule.
/// The content's hash is SHA-256, or HMAC-SHA-256 with a secret.
///
/// ```
/// use lambda_idempotency_key::{Comparison, Fingerprint};
/// let of = |json| Fingerprint::Whole.of(json).map(Option::unwrap);
/// let first = of(r#"{"a": 1}"#)?;
/// assert_eq!(first.compare(of(r#"{"a": 1.0}"#)?.as_str()), Comparison::Same);
/// assert_eq!(first.compare(of(r#"{"a": 2}"#)?.as_str()), Comparison::Different);
/// assert_eq!(first.compare("written by someone else"), Comparison::NotComparable);
/// # Ok::<(), lambda_idempotency_key::KeyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Validation {
    text: String,
    prefix: usize,
}

impl Validation {
    /// From the rule (the expression and the source's name) and the canonical parts of the content.
    pub(crate) fn new(expression: &str, source: &str, content: &str, secret: Option<&Secret>) -> Self {
        let plain = [RULE_LABEL, expression.as_bytes(), source.as_bytes()];
        let keyed = [plain[0], plain[1], plain[2], KEYED];
        let rule = hash(None, if secret.is_some() { &keyed } else { &plain });
        let content = hash(secret, &[CONTENT_LABEL, content.as_bytes()]);
        let prefix = format!("1:{}:", rule.get(..RULE_DIGITS).unwrap_or(&rule));
        Self { prefix: prefix.len(), text: prefix + &content }
    }

    /// The whole text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The version and the rule, with both colons: what has to be equal for the rest to compare.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.text[..self.prefix]
    }

    /// Compares with what a record holds, in a time that tells nothing about the content.
    #[must_use]
    pub fn compare(&self, stored: &str) -> Comparison {
        if !stored.starts_with(self.prefix()) {
            Comparison::NotComparable
        } else if same(&self.text, stored) {
            Comparison::Same
        } else {
            Comparison::Different
        }
    }
}

impl fmt::Display for Validation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Shows the rule and the first 8 digits of the content's hash.
impl fmt::Debug for Validation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.text.get(..self.prefix + 8).unwrap_or(&self.text);
        write!(f, "Validation({shown}…)")
    }
}

/// How a fingerprint compares with a stored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// The same content.
    Same,
    /// Other content, taken by the same rule.
    Different,
    /// Taken by another rule or another writer; nothing can be said.
    NotComparable,
}
