//! What kept a store from doing its part.

use std::error::Error as StdError;
use std::fmt;

/// What kind of trouble a store has; decides whether a retry can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The table (database, key space) does not exist.
    NotFound,
    /// The store refused the credentials or the right to do this.
    AccessDenied,
    /// The table is not laid out as the store expects.
    WrongSchema,
    /// The record that is there cannot be read: an attribute is missing or of the wrong type.
    Corrupt,
    /// The store asks to slow down. Retryable.
    Throttled,
    /// No answer in time; whether the call was applied is not known. Retryable.
    TimedOut,
    /// No connection. Retryable.
    Unreachable,
    /// The store failed on its side. Retryable.
    ServerFault,
    /// Anything else; a retry of the same call is not expected to help.
    Other,
}

/// A store's error: what was tried, on what, what went wrong and how to mend it.
///
/// Never holds a key, a payload or a result. The client's own error is its
/// [`source`](StdError::source).
///
/// ```
/// use lambda_idempotency_core::{StoreError, StoreErrorKind};
///
/// let error = StoreError::new(StoreErrorKind::NotFound, "PutItem on DynamoDB table `orders`")
///     .cure("create the table, or name another in IDEMPOTENCY_TABLE");
/// assert!(!error.is_retryable());
/// ```
pub struct StoreError(Box<Inner>);

/// Boxed: an error travels through every `Result` of the library, and most of them are `Ok`.
struct Inner {
    kind: StoreErrorKind,
    what: String,
    code: Option<String>,
    cure: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl StoreError {
    /// An error of `kind`; `what` names the operation and the thing it was done to.
    pub fn new(kind: StoreErrorKind, what: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, what: what.into(), code: None, cure: None, source: None }))
    }

    /// Adds the service's own code or short reason.
    #[must_use]
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.0.code = Some(code.into());
        self
    }

    /// Adds how to mend it.
    #[must_use]
    pub fn cure(mut self, cure: impl Into<String>) -> Self {
        self.0.cure = Some(cure.into());
        self
    }

    /// Keeps the client's own error.
    #[must_use]
    pub fn source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What kind of trouble it is.
    pub fn kind(&self) -> StoreErrorKind {
        self.0.kind
    }

    /// Whether the same call can succeed a moment later.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self.0.kind,
            StoreErrorKind::Throttled
                | StoreErrorKind::TimedOut
                | StoreErrorKind::Unreachable
                | StoreErrorKind::ServerFault
        )
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = match self.0.kind {
            StoreErrorKind::NotFound => "not found",
            StoreErrorKind::AccessDenied => "access denied",
            StoreErrorKind::WrongSchema => "the table is not laid out as expected",
            StoreErrorKind::Corrupt => "the stored record cannot be read",
            StoreErrorKind::Throttled => "throttled",
            StoreErrorKind::TimedOut => "no answer in time",
            StoreErrorKind::Unreachable => "cannot be reached",
            StoreErrorKind::ServerFault => "the store failed",
            StoreErrorKind::Other => "failed",
        };
        write!(f, "{}: {said}", self.0.what)?;
        if let Some(code) = &self.0.code {
            write!(f, " ({code})")?;
        }
        if let Some(cure) = &self.0.cure {
            write!(f, "; {cure}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the source: a client's `Debug` output can hold the request, and with it a result.
        f.debug_struct("StoreError").field("kind", &self.0.kind).field("message", &self.to_string()).finish()
    }
}

impl StdError for StoreError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
