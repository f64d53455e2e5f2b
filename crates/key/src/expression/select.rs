//! The result of applying an expression.

use std::fmt;

use crate::json::error::CanonicalError;

/// What an expression selected, in canonical form.
#[derive(Clone, PartialEq, Eq)]
pub struct Selection {
    canonical: String,
    missing: Vec<String>,
}

impl Selection {
    pub(crate) fn new(canonical: String, missing: Vec<String>) -> Self {
        Self { canonical, missing }
    }

    /// The value as canonical JSON; `null` where nothing was selected.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.canonical
    }

    /// Whether the value, or a part of it that must be present, is missing.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        !self.missing.is_empty()
    }

    /// The text of each part of the expression that selected nothing: null, an empty string, or
    /// an array or object without anything else in it. One entry, the whole expression, unless the
    /// expression ends in `[a, b]` or `{x: a, y: b}`: there every part must be present.
    #[must_use]
    pub fn missing_parts(&self) -> &[String] {
        &self.missing
    }

    pub(crate) fn into_canonical(self) -> String {
        self.canonical
    }
}

/// Shows whether something is missing, never the value.
impl fmt::Debug for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection").field("missing", &self.missing).finish_non_exhaustive()
    }
}

/// An expression could not be applied to an input. Never shows the input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// The input is not JSON with one meaning.
    #[error("the JSON of the input, or of a text in it that was opened, cannot be read: {0}")]
    Json(#[from] CanonicalError),
    /// A function was given a value of a type that it cannot take.
    #[error("in `{call}`, argument {argument} must be {expected}, and here it is {found}")]
    WrongType {
        /// The call, as the expression writes it.
        call: String,
        /// Which argument, from 1.
        argument: usize,
        /// What it takes.
        expected: &'static str,
        /// The type of what it was given.
        found: &'static str,
    },
    /// A function could not decode the text it was given.
    #[error("in `{call}`, {reason}")]
    Undecodable {
        /// The call, as the expression writes it.
        call: String,
        /// Why.
        reason: DecodeReason,
    },
    /// Numbers whose sum has more than 10,000 digits.
    #[error("in `{call}`, the numbers are too far apart to be added exactly")]
    OutOfRange {
        /// The call, as the expression writes it.
        call: String,
    },
    /// The utilities of other languages would select or spell something else here.
    #[error(
        "`{part}` {reason}, so that no record of Powertools for AWS Lambda could be found by it; leave it out \
         of the key"
    )]
    OtherInPowertools {
        /// The part of the expression, or the name of the member.
        part: String,
        /// Why.
        reason: &'static str,
    },
    /// The expression does more work than a key can be worth.
    #[error("the expression takes more than {limit} steps on this input; select less")]
    TooMuchWork {
        /// The limit, in visited values.
        limit: u64,
    },
}

/// Why a text could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeReason {
    /// Not JSON.
    #[error("the text is not JSON: {0}")]
    Json(CanonicalError),
    /// Not base64.
    #[error("the text is not base64")]
    Base64,
    /// Not gzip, or cut off.
    #[error("the bytes are not a complete gzip stream")]
    Gzip,
    /// The decoded bytes are not text.
    #[error("the decoded bytes are not UTF-8 text")]
    NotText,
    /// The decompressed text is too large.
    #[error("the decompressed text is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// A header that was sent more than once, with different values.
    #[error("the header was sent more than once, with different values")]
    RepeatedHeader,
}
