//! What a record in the way means for the one who wants to claim it.

use std::time::Duration;

use lambda_idempotency_key::Validation;

use super::{Content, same_content};
use crate::{EpochMillis, Owner, Record, Replaced, Status};

/// Who asks, as far as the decision depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Claimant<'a> {
    /// The asking attempt.
    pub owner: &'a Owner,
    /// The fingerprint of its content.
    pub validation: Option<&'a Validation>,
    /// How long after its lease end an unfinished claim is left alone.
    pub margin: Duration,
}

/// What a record in the way means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The claim is mine: an earlier try of this very request was applied and its reply was lost.
    Mine,
    /// It can be claimed after all, for this reason: claim again, with a fresh `now`.
    Claimable(Replaced),
    /// Same key, other content.
    Mismatch,
    /// The stored result is the answer.
    ReplayResult,
    /// The stored failure is the answer.
    ReplayFailure,
    /// At-most-once, and the holder is gone: nobody knows whether the work was done.
    Interrupted,
    /// Another attempt is at work. A retry before this instant cannot succeed.
    Busy {
        /// The first moment at which the record can be claimed, if its holder has died.
        retry_at: EpochMillis,
    },
}

/// Whether a claim may be written over `record`, and as what.
///
/// This is the claim condition that every store evaluates.
pub fn claimable(record: &Record, claimant: Claimant<'_>, now: EpochMillis) -> Option<Replaced> {
    if record.is_expired(now) {
        return Some(Replaced::Expired);
    }
    let abandoned = record.status == Status::InProgress
        && record.lease_end.is_some_and(|lease_end| lease_end < now.minus(claimant.margin))
        && same_content(record, claimant.validation) != Content::Different;
    abandoned.then_some(Replaced::Abandoned)
}

/// What a record that refused a claim at `now` means. One function for every source of a record:
/// returned by the refusing write, read, or cached.
pub fn classify(record: &Record, claimant: Claimant<'_>, now: EpochMillis) -> Verdict {
    if record.status == Status::InProgress && record.owner.as_ref() == Some(claimant.owner) {
        return Verdict::Mine;
    }
    if let Some(replaced) = claimable(record, claimant, now) {
        return Verdict::Claimable(replaced);
    }
    if same_content(record, claimant.validation) == Content::Different {
        return Verdict::Mismatch;
    }
    match record.status {
        Status::Completed => Verdict::ReplayResult,
        Status::Failed => Verdict::ReplayFailure,
        Status::InProgress => match record.deadline {
            Some(deadline) if deadline < now.minus(claimant.margin) => Verdict::Interrupted,
            _ => Verdict::Busy { retry_at: retry_at(record, claimant.margin) },
        },
    }
}

/// The first moment at which a retry against the unfinished `record` can succeed (or, with
/// at-most-once, learn that its holder was interrupted).
pub fn retry_at(record: &Record, margin: Duration) -> EpochMillis {
    let end_of_holder = [record.deadline, record.lease_end].into_iter().flatten().min();
    match end_of_holder {
        // The condition is "earlier than", so one millisecond after it.
        Some(end) => end.plus(margin).plus(Duration::from_millis(1)).min(record.expiration.end()),
        None => record.expiration.end(),
    }
}
