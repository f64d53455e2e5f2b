//! Is it the same content? One comparison for claim, classification and completion.

use lambda_idempotency_key::{Comparison, Validation};

use crate::Record;

/// How a request's content relates to that of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The fingerprints are equal.
    Same,
    /// There is nothing to compare: one of the two has no fingerprint, or was made by another rule
    /// (the rule was edited, another writer). Accepted as the same.
    NotComparable,
    /// The same rule made another fingerprint.
    Different,
}

/// Compares a request's fingerprint with the one that `record` was claimed with.
pub fn same_content(record: &Record, validation: Option<&Validation>) -> Content {
    match (&record.validation, validation) {
        (Some(stored), Some(mine)) => match mine.compare(stored) {
            Comparison::Same => Content::Same,
            Comparison::Different => Content::Different,
            Comparison::NotComparable => Content::NotComparable,
        },
        _ => Content::NotComparable,
    }
}
