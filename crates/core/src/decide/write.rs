//! Who may complete, release and renew.

use lambda_idempotency_key::Validation;

use crate::{EpochMillis, Owner, Record, RenewRequest, Status};

/// What a completion may do to the record that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Write it: the record is mine, or there is none (a successor gave the key back after failing,
    /// or it expired) or nobody's (a successor left it), and the effect did happen, so it is recorded.
    Write,
    /// Leave it: another attempt holds or finished it.
    Overtaken,
}

/// Whether `owner` may write its result over `record`.
pub fn may_complete(record: Option<&Record>, owner: &Owner, now: EpochMillis) -> Completion {
    match record {
        None => Completion::Write,
        Some(record) if record.is_expired(now) => Completion::Write,
        Some(record) if record.is_left() || record.owner.as_ref() == Some(owner) => Completion::Write,
        Some(_) => Completion::Overtaken,
    }
}

/// What a completion in one transaction with the caller's writes may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// Apply both.
    Apply,
    /// Apply neither: an earlier try of this very commit was applied. It succeeded.
    Applied,
    /// Apply neither: another attempt holds or finished the record.
    Overtaken,
}

/// Whether `owner` may commit. Narrower than [`may_complete`]: where its own record is final already, the
/// writes were applied with it, and would be applied twice.
pub fn may_commit(record: Option<&Record>, owner: &Owner, now: EpochMillis) -> Commit {
    match (may_complete(record, owner, now), record) {
        (Completion::Overtaken, _) => Commit::Overtaken,
        (Completion::Write, Some(record)) if record.status.is_final() && !record.is_expired(now) => {
            Commit::Applied
        }
        (Completion::Write, _) => Commit::Apply,
    }
}

/// What an overtaken holder may tell its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overtaken {
    /// The successor's answer: it is final and its content is provably the same.
    Answer,
    /// Nothing: the successor is still at work, or its content is not provably the same.
    LeaseLost,
}

/// What the record that overtook an attempt is to that attempt. Not comparable is not enough here:
/// the fingerprints must be **equal** (or both absent), so that nobody gets another content's answer.
pub fn overtaken_by(record: &Record, validation: Option<&Validation>) -> Overtaken {
    let equal = record.validation.as_deref() == validation.map(Validation::as_str);
    if record.status.is_final() && equal { Overtaken::Answer } else { Overtaken::LeaseLost }
}

/// Whether `owner` may delete `record`, or leave it: only its own unfinished claim.
pub fn may_release(record: Option<&Record>, owner: &Owner) -> bool {
    record.is_some_and(|record| record.owner.as_ref() == Some(owner) && record.status == Status::InProgress)
}

/// The record after a release that leaves it: nobody's, and its lease over since ever, so that the next attempt at
/// the same content takes it over at once. Other content stays refused: some of this one may have been done.
///
/// ```
/// use lambda_idempotency_core::{EpochMillis, EpochSeconds, Owner, Record, RecordId, Status, decide};
///
/// let held = Record {
///     id: RecordId::parse(&format!("orders#{}", "0".repeat(64))).expect("an id"),
///     expiration: EpochSeconds::new(1_900_086_400),
///     status: Status::InProgress,
///     lease_end: Some(EpochMillis::new(1_900_000_060_000)),
///     owner: Some(Owner::from_text("me")),
///     validation: None,
///     data: None,
///     encoding: None,
///     deadline: None,
///     stored_at: None,
/// };
/// assert!(!held.is_left() && decide::left(&held).is_left());
/// ```
pub fn left(record: &Record) -> Record {
    Record {
        owner: Some(Owner::from_text(Owner::NOBODY)),
        lease_end: Some(EpochMillis::new(0)),
        ..record.clone()
    }
}

/// Whether a renewal may move the lease of `record`: my own unfinished claim, not expired, whose
/// lease ends earlier (a late renewal must not rewrite a finished record or shorten a lease).
pub fn may_renew(record: Option<&Record>, request: &RenewRequest) -> bool {
    record.is_some_and(|record| {
        let (stored, new) = match request.deadline {
            Some(deadline) => (record.deadline, deadline),
            None => (record.lease_end, request.lease_end),
        };
        record.owner.as_ref() == Some(&request.owner)
            && record.status == Status::InProgress
            && !record.is_expired(request.now)
            && stored.is_some_and(|end| end < new)
    })
}

/// The record after a renewal that [`may_renew`] allows. Times only ever grow: a renewal that asks for an
/// earlier `expiration` must not shorten an at-most-once lease, which lasts as long as the record.
pub fn renewed(record: &Record, request: &RenewRequest) -> Record {
    Record {
        lease_end: record.lease_end.max(Some(request.lease_end)),
        expiration: record.expiration.max(request.expiration),
        deadline: record.deadline.max(request.deadline),
        ..record.clone()
    }
}
