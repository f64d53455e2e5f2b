//! What is wrong with a JSON text, and where.

/// The input is not JSON that has a canonical form.
///
/// Shows a byte offset and a reason, never the text itself.
///
/// ```
/// let error = lambda_idempotency_key::canonical(r#"{"a":1,"a":2}"#).unwrap_err();
/// assert_eq!(error.offset(), 7);
/// assert_eq!(error.reason(), lambda_idempotency_key::CanonicalReason::DuplicateMember);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} (at byte {offset})")]
pub struct CanonicalError {
    offset: usize,
    reason: CanonicalReason,
}

impl CanonicalError {
    pub(crate) fn new(offset: usize, reason: CanonicalReason) -> Self {
        Self { offset, reason }
    }

    /// The same error in a text of which the one that was read is a part.
    pub(crate) fn moved(self, by: usize) -> Self {
        Self { offset: self.offset + by, ..self }
    }

    /// Where, in bytes from the start of the input. For a text that a function of the expression
    /// took out of it (`powertools_json`), from the start of that text.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// What is wrong.
    #[must_use]
    pub fn reason(&self) -> CanonicalReason {
        self.reason
    }
}

/// The ways in which a text can fail to be JSON with one meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CanonicalReason {
    /// The text ends inside a value.
    #[error("the JSON text ends inside a value")]
    Truncated,
    /// A character that no JSON value has at this place.
    #[error("this character cannot stand here in JSON")]
    UnexpectedCharacter,
    /// Something follows the value.
    #[error("there is more text after the end of the JSON value")]
    TrailingText,
    /// A number that JSON does not allow (`01`, `1.`, `+1`, `.5`).
    #[error("this is not a JSON number")]
    InvalidNumber,
    /// An unknown escape, or one with bad hexadecimal digits.
    #[error("this escape is not allowed in a JSON string")]
    InvalidEscape,
    /// Half of a surrogate pair: no character, so no defined text.
    #[error("this escape is half of a surrogate pair; send the whole character")]
    LoneSurrogate,
    /// A control character that is not escaped.
    #[error("a control character in a JSON string must be escaped")]
    ControlCharacter,
    /// One object has the same member twice: which one counts is undefined.
    #[error("this object has the same member twice; send it once")]
    DuplicateMember,
    /// Arrays and objects are nested deeper than 128 levels.
    #[error("the JSON is nested deeper than 128 levels")]
    TooDeep,
    /// The canonical form would be larger than 32 MiB.
    #[error("the selected value is larger than 32 MiB")]
    TooLarge,
}
