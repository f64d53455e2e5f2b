//! A fingerprint in the form in which records keep it.

use std::fmt;

use crate::hash::{hash, same};
use crate::secret::Secret;

const RULE_LABEL: &[u8] = b"lambda-idempotency rule 1";
const CONTENT_LABEL: &[u8] = b"lambda-idempotency content 1";

/// What this library's own texts begin with.
const VERSION: &str = "1:";

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
    /// The length of version and rule, where the text has them.
    prefix: Option<usize>,
}

impl Validation {
    /// From the rule (the expression and the source's name) and the canonical parts of the content.
    pub(crate) fn new(expression: &str, source: &str, content: &str, secret: Option<&Secret>) -> Self {
        let plain = [RULE_LABEL, expression.as_bytes(), source.as_bytes()];
        let keyed = [plain[0], plain[1], plain[2], KEYED];
        let rule = hash(None, if secret.is_some() { &keyed } else { &plain });
        let content = hash(secret, &[CONTENT_LABEL, content.as_bytes()]);
        let prefix = format!("{VERSION}{}:", rule.get(..RULE_DIGITS).unwrap_or(&rule));
        Self { prefix: Some(prefix.len()), text: prefix + &content }
    }

    /// A hash as another utility writes it: nothing in it says how it was made.
    pub(crate) fn bare(digest: String) -> Self {
        Self { text: digest, prefix: None }
    }

    /// The whole text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Which stored texts this one can be compared with.
    #[must_use]
    pub fn comparable(&self) -> Comparable<'_> {
        match self.prefix {
            Some(prefix) => Comparable::StartingWith(&self.text[..prefix]),
            None => Comparable::NotStartingWith(VERSION),
        }
    }

    /// Compares with what a record holds, in a time that tells nothing about the content.
    #[must_use]
    pub fn compare(&self, stored: &str) -> Comparison {
        let comparable = match self.comparable() {
            Comparable::StartingWith(prefix) => stored.starts_with(prefix),
            Comparable::NotStartingWith(prefix) => !stored.starts_with(prefix),
        };
        if !comparable {
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
        let shown = self.text.get(..self.prefix.unwrap_or(0) + 8).unwrap_or(&self.text);
        write!(f, "Validation({shown}…)")
    }
}

/// Which stored texts a fingerprint can be compared with: a store's claim condition asks the same.
///
/// ```
/// use lambda_idempotency_key::{Comparable, Fingerprint, Powertools};
/// let ours = Fingerprint::Whole.of("1")?.expect("not off");
/// assert!(matches!(ours.comparable(), Comparable::StartingWith(rule) if ours.as_str().starts_with(rule)));
/// let theirs = Powertools::python().validation(Some(&Fingerprint::Whole), "1")?.expect("not off");
/// assert_eq!(theirs.comparable(), Comparable::NotStartingWith("1:"));
/// # Ok::<(), lambda_idempotency_key::KeyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparable<'a> {
    /// Those that begin with this: version and rule, with both colons.
    StartingWith(&'a str),
    /// Those that do not begin with this. A hash that another utility would have written compares with all but
    /// this library's own.
    NotStartingWith(&'a str),
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
