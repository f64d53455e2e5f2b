//! How a guarded call came to its answer.

use crate::{EpochMillis, EpochSeconds};

/// An answer and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome<T> {
    /// The function ran and its result is recorded (or given back, where `store_if` says that it is no
    /// answer for others).
    Executed(T),
    /// The function did not run: this is the recorded answer.
    Replayed(T, Replay),
    /// The function ran without protection, as the policy allows.
    Unprotected(T),
    /// Another attempt is at work, and the policy is to leave it at that: there is no answer.
    Skipped,
}

/// What is known of a recorded answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// When the answer was recorded; `None` where its writer did not say.
    pub stored_at: Option<EpochMillis>,
    /// When the record stops counting.
    pub expires_at: EpochSeconds,
    /// Where the record was found.
    pub source: ReplaySource,
}

/// Where a recorded answer was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplaySource {
    /// In the store.
    Store,
    /// In this process: see [`Cached`](crate::Cached).
    Cache,
}

impl<T> Outcome<T> {
    /// The answer; `None` only when it was [skipped](Outcome::Skipped).
    pub fn into_value(self) -> Option<T> {
        match self {
            Self::Executed(value) | Self::Replayed(value, _) | Self::Unprotected(value) => Some(value),
            Self::Skipped => None,
        }
    }

    /// Whether the function did not run because the answer was there.
    pub fn is_replayed(&self) -> bool {
        matches!(self, Self::Replayed(..))
    }

    /// The stable name of the variant, as logs and metrics use it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Executed(_) => "Executed",
            Self::Replayed(..) => "Replayed",
            Self::Unprotected(_) => "Unprotected",
            Self::Skipped => "Skipped",
        }
    }
}
