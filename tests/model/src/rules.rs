//! The shipped decisions, and single rules taken away from them.
//!
//! A rule is taken away by lying to the shipped function about its input wherever that is possible
//! (withholding the fingerprint, showing a finished record as unfinished), so that everything else
//! about the decision stays as it is shipped.

use std::time::Duration;

use lambda_idempotency_core::decide::{
    self, Claimant, Commit, Completion, Content, Deadline, Overtaken, Times, Verdict,
};
use lambda_idempotency_core::{
    EpochMillis, EpochSeconds, Owner, Policy, Record, RenewRequest, Replaced, Status, Validation,
};

/// A rule that can be taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Rule {
    /// `expiration` of a claim is never before lease end + margin.
    ExpirationCoversLease = 1,
    /// Only a claim of the same content can be taken over.
    TakeoverSameContent = 1 << 1,
    /// An attempt recognises its own claim.
    OwnClaimIsMine = 1 << 2,
    /// A completion needs my owner, or nothing there.
    CompleteOwner = 1 << 3,
    /// An overtaken attempt answers only with a record of provably the same content: here it takes
    /// any final record.
    OvertakenSameContent = 1 << 4,
    /// As above: here it takes one that is not comparable.
    OvertakenComparable = 1 << 5,
    /// An overtaken attempt never answers with its own result.
    OvertakenNotOwnResult = 1 << 6,
    /// A transactional completion needs my claim to be unfinished.
    CommitUnfinished = 1 << 7,
    /// A release needs my owner.
    ReleaseOwner = 1 << 8,
    /// A release needs my claim to be unfinished.
    ReleaseUnfinished = 1 << 9,
    /// A renewal needs my owner.
    RenewOwner = 1 << 10,
    /// A renewal needs my claim to be unfinished.
    RenewUnfinished = 1 << 11,
    /// A renewal never shortens a lease.
    RenewForward = 1 << 12,
    /// A renewal keeps `expiration` at or after lease end + margin.
    RenewCoversLease = 1 << 13,
    /// A renewal never asks for an earlier `expiration` than the claim: with at-most-once,
    /// `in_progress_expiration` follows it.
    RenewNotEarlier = 1 << 14,
    /// With at-most-once, an abandoned claim is not taken over.
    AtMostOnceHolds = 1 << 15,
    /// An abandoned claim can be taken over at all.
    TakeoverAtAll = 1 << 16,
    /// Other content is told so, also by a final record.
    MismatchIsLoud = 1 << 17,
    /// An attempt that recognises its own claim takes the end of its lease from the record.
    LeaseFromRecord = 1 << 18,
    /// An attempt does not begin to run when its lease is already over.
    StartWithinLease = 1 << 19,
    /// A renewal that finds its own effect (my claim, lease not shorter) is a success.
    OwnRenewalIsMine = 1 << 20,
    /// The owner is written into the record at all.
    OwnerIsWritten = 1 << 21,
    /// A transaction is not applied once its own `expiration` has passed.
    CommitBeforeOwnExpiry = 1 << 22,
    /// A takeover that gives the key back leaves the record.
    TakeoverLeaves = 1 << 23,
}

/// The shape of libraries without an owner: unconditional update and delete, no look at the content
/// in the claim.
pub const UNCONDITIONAL: [Rule; 6] = [
    Rule::OwnerIsWritten,
    Rule::OwnClaimIsMine,
    Rule::CompleteOwner,
    Rule::ReleaseOwner,
    Rule::ReleaseUnfinished,
    Rule::TakeoverSameContent,
];

/// The rules that are in force.
///
/// By default all of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    dropped: u32,
}

impl Rules {
    /// All but these.
    pub fn without(dropped: &[Rule]) -> Self {
        Self { dropped: dropped.iter().fold(0, |set, &rule| set | rule as u32) }
    }

    /// Whether the rule is in force.
    pub fn has(self, rule: Rule) -> bool {
        self.dropped & rule as u32 == 0
    }

    /// [`decide::lease_times`]
    pub fn lease_times(self, policy: &Policy, life: Duration, deadline: Deadline, now: EpochMillis) -> Times {
        let mut times = decide::lease_times(policy, life, deadline, now);
        if !self.has(Rule::ExpirationCoversLease) {
            times.expiration = decide::expires_at(life, now);
        }
        if !self.has(Rule::AtMostOnceHolds) {
            times.lease_end = times.holder_until;
        }
        times
    }

    /// [`decide::claimable`]
    pub fn claimable(
        self,
        record: &Record,
        mut claimant: Claimant<'_>,
        now: EpochMillis,
    ) -> Option<Replaced> {
        if !self.has(Rule::TakeoverSameContent) {
            claimant.validation = None;
        }
        decide::claimable(record, claimant, now)
            .filter(|replaced| self.has(Rule::TakeoverAtAll) || *replaced != Replaced::Abandoned)
    }

    /// [`decide::classify`]
    pub fn classify(self, record: &Record, claimant: Claimant<'_>, now: EpochMillis) -> Verdict {
        let nobody = Owner::from_text("nobody");
        let mut claimant = Claimant { ..claimant };
        if !self.has(Rule::OwnClaimIsMine) {
            claimant.owner = &nobody;
        }
        if !self.has(Rule::MismatchIsLoud) && record.status.is_final() {
            claimant.validation = None;
        }
        match decide::classify(record, claimant, now) {
            Verdict::Mine => Verdict::Mine,
            other => match self.claimable(record, claimant, now) {
                Some(replaced) => Verdict::Claimable(replaced),
                None if matches!(other, Verdict::Claimable(_)) => {
                    Verdict::Busy { retry_at: decide::retry_at(record, claimant.margin) }
                }
                None => other,
            },
        }
    }

    /// [`decide::may_complete`]
    pub fn may_complete(self, record: Option<&Record>, owner: &Owner, now: EpochMillis) -> Completion {
        if self.has(Rule::CompleteOwner) {
            decide::may_complete(record, owner, now)
        } else {
            Completion::Write
        }
    }

    /// [`decide::may_commit`] of a transaction that writes `expiration`; `None` when that has passed.
    pub fn may_commit(
        self,
        record: Option<&Record>,
        owner: &Owner,
        expiration: EpochSeconds,
        now: EpochMillis,
    ) -> Option<Commit> {
        if expiration < now.floor_seconds() && self.has(Rule::CommitBeforeOwnExpiry) {
            return None;
        }
        if self.has(Rule::CommitUnfinished) && self.has(Rule::CompleteOwner) {
            return Some(decide::may_commit(record, owner, now));
        }
        Some(match self.may_complete(record, owner, now) {
            Completion::Write => Commit::Apply,
            Completion::Overtaken => Commit::Overtaken,
        })
    }

    /// [`decide::overtaken_by`]; with `None` the attempt answers with its own result.
    pub fn overtaken_by(self, record: &Record, validation: Option<&Validation>) -> Option<Overtaken> {
        if !self.has(Rule::OvertakenNotOwnResult) {
            return None;
        }
        let also = match decide::same_content(record, validation) {
            Content::Same => false,
            Content::Different => !self.has(Rule::OvertakenSameContent),
            Content::NotComparable => {
                !self.has(Rule::OvertakenSameContent) || !self.has(Rule::OvertakenComparable)
            }
        };
        if also && record.status.is_final() {
            return Some(Overtaken::Answer);
        }
        Some(decide::overtaken_by(record, validation))
    }

    /// [`decide::may_release`]
    pub fn may_release(self, record: Option<&Record>, owner: &Owner) -> bool {
        let Some(mut record) = record.cloned() else { return false };
        if !self.has(Rule::ReleaseOwner) {
            record.owner = Some(owner.clone());
        }
        if !self.has(Rule::ReleaseUnfinished) {
            record.status = Status::InProgress;
        }
        decide::may_release(Some(&record), owner)
    }

    /// [`decide::may_renew`]
    pub fn may_renew(self, record: Option<&Record>, request: &RenewRequest) -> bool {
        let Some(mut record) = record.cloned() else { return false };
        if !self.has(Rule::RenewOwner) {
            record.owner = Some(request.owner.clone());
        }
        if !self.has(Rule::RenewUnfinished) {
            record.status = Status::InProgress;
        }
        if !self.has(Rule::RenewForward) {
            record.lease_end = Some(EpochMillis::new(0));
            record.deadline = record.deadline.map(|_| EpochMillis::new(0));
        }
        decide::may_renew(Some(&record), request)
    }
}
