//! Why the result of work that was done is not recorded.

use crate::{CipherError, JsonFault, StoreError};

/// Why a result was not recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotRecordedReason {
    /// It has no JSON form (NaN, a map whose keys are not strings, …).
    #[error("it cannot be written as JSON ({0})")]
    NotJson(JsonFault),
    /// It could not be encrypted.
    #[error("it could not be encrypted: {0}")]
    NotEncrypted(#[source] CipherError),
    /// The store did not take it.
    #[error("{0}")]
    Store(#[source] StoreError),
    /// The store contradicted itself until no time was left: it refused because of a record that it
    /// then could not find.
    #[error("the store refused it because of a record that is not there")]
    Contradiction,
}
