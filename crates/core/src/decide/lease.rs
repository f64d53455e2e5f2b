//! How long a claim holds, and how long a record counts.

use std::time::Duration;

use crate::{EpochMillis, EpochSeconds, Lease, Policy};

/// The longest that a Lambda function can run (an AWS quota: 900 seconds). The lease where no
/// deadline is known, and the most that a deadline counts for.
pub const LONGEST_RUN: Duration = Duration::from_secs(900);

/// Deadlines below this (2001-09-09, in ms) cannot be an instant; a local tool sends 600000 for
/// "ten minutes", and a lease that ends in 1970 protects nothing.
const EARLIEST_INSTANT_MS: u64 = 1_000_000_000_000;

/// When the platform will stop the invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Deadline {
    /// Nobody has said.
    #[default]
    Unset,
    /// What was said cannot be an instant.
    Unknown,
    /// At this instant.
    At(EpochMillis),
}

impl Deadline {
    /// Reads the deadline of a Lambda context: UNIX **milliseconds**.
    ///
    /// ```
    /// use lambda_idempotency_core::{decide::Deadline, EpochMillis};
    ///
    /// assert_eq!(Deadline::from_epoch_millis(600_000), Deadline::Unknown);
    /// let at = EpochMillis::new(1_900_000_000_000);
    /// assert_eq!(Deadline::from_epoch_millis(1_900_000_000_000), Deadline::At(at));
    /// ```
    pub fn from_epoch_millis(millis: u64) -> Self {
        if millis < EARLIEST_INSTANT_MS {
            Self::Unknown
        } else {
            Self::At(EpochMillis::new(i64::try_from(millis).unwrap_or(i64::MAX)))
        }
    }

    /// The instant, where one is known.
    pub fn instant(self) -> Option<EpochMillis> {
        match self {
            Self::At(instant) => Some(instant),
            Self::Unset | Self::Unknown => None,
        }
    }

    /// Whether the deadline is known and not after `now`.
    pub fn has_passed(self, now: EpochMillis) -> bool {
        self.instant().is_some_and(|deadline| deadline <= now)
    }
}

/// The times of a new claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// When the holder's lease ends.
    pub holder_until: EpochMillis,
    /// `in_progress_expiration`: when others may take over.
    pub lease_end: EpochMillis,
    /// `expiration`: when the record stops counting.
    pub expiration: EpochSeconds,
    /// `deadline`: only with at-most-once.
    pub deadline: Option<EpochMillis>,
}

/// The times of a claim made at `now`.
///
/// `expiration` is never before lease end + margin, else an `expires_after` shorter than the run
/// would let a second runner in. With at-most-once nobody takes over: the lease lasts as long as
/// the record.
pub fn lease_times(policy: &Policy, expires_after: Duration, deadline: Deadline, now: EpochMillis) -> Times {
    let longest = now.plus(LONGEST_RUN);
    let by_deadline = deadline.instant().map_or(longest, |deadline| deadline.min(longest));
    let holder_until = match policy.lease {
        Lease::Deadline => by_deadline,
        Lease::DeadlinePlus(extra) => by_deadline.plus(extra),
        Lease::Fixed(lease) | Lease::Renewed { lease, .. } => now.plus(lease),
    };
    let counts_until = now.plus(expires_after).max(holder_until.plus(policy.margin));
    let expiration = counts_until.ceil_seconds();
    if policy.at_most_once {
        Times { holder_until, lease_end: expiration.end(), expiration, deadline: Some(holder_until) }
    } else {
        Times { holder_until, lease_end: holder_until, expiration, deadline: None }
    }
}

/// `expiration` of a record that is completed at `now`.
pub fn expires_at(expires_after: Duration, now: EpochMillis) -> EpochSeconds {
    now.plus(expires_after).ceil_seconds()
}
