//! What a store has to be able to do: five verbs, each of them one atomic step.
//!
//! A store holds no policy and no settings of a function: one store serves any number of functions
//! at once. It carries out what [`decide`](crate::decide) says, by its own means (a conditional
//! write, a script, a statement); [`MemoryStore`](crate::MemoryStore) is the shortest whole one.
//!
//! Requests carry `now` by the caller's clock. A store whose server has a clock of its own
//! (Redis, PostgreSQL) uses that one in its conditions, and answers with the instant it used.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lambda_idempotency_key::{RecordId, Validation};
use sha2::{Digest, Sha256};

use crate::{EpochMillis, EpochSeconds, Owner, Record, Status, StoreError, StoreErrorKind};

/// A store of records. Each method is one atomic step; none has a default that weakens it.
#[async_trait::async_trait]
pub trait Store: fmt::Debug + Send + Sync {
    /// Writes a new record, whole, if and only if [`decide::claimable`](crate::decide::claimable)
    /// says so of what is there, and says what it replaced.
    ///
    /// # Errors
    /// Whatever kept the store from deciding. Losing the race is not an error but
    /// [`ClaimAnswer::Refused`].
    async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError>;

    /// Writes the final record if and only if
    /// [`decide::may_complete`](crate::decide::may_complete) says so.
    ///
    /// # Errors
    /// Whatever kept the store from deciding; a foreign holder is [`CompleteAnswer::Overtaken`].
    async fn complete(&self, request: &CompleteRequest) -> Result<CompleteAnswer, StoreError>;

    /// As [`Store::complete`], in one transaction with writes of the caller's: both are applied, or
    /// neither. The condition is [`decide::may_commit`](crate::decide::may_commit), which is narrower:
    /// a commit whose reply was lost is not applied twice. Nor is one applied after its own `expiration`
    /// by the clock of a store that has one: the record of an earlier try may be gone by then.
    ///
    /// A store without transactions refuses; it never applies one without the other.
    ///
    /// # Errors
    /// Whatever kept the store from deciding.
    async fn commit(
        &self,
        request: &CompleteRequest,
        writes: &dyn Writes,
    ) -> Result<CommitAnswer, StoreError> {
        let _ = (request, writes);
        Err(StoreError::new(StoreErrorKind::Other, format!("transaction on {self:?}"))
            .code("this store has no transactions")
            .cure("do not call `Attempt::commit_with`, or use a store that has them"))
    }

    /// Deletes or [leaves](crate::decide::left) the record, as the request says, if and only if
    /// [`decide::may_release`](crate::decide::may_release) says so.
    ///
    /// # Errors
    /// Whatever kept the store from deciding; nothing to release is [`ReleaseAnswer::NotMine`].
    async fn release(&self, request: &ReleaseRequest) -> Result<ReleaseAnswer, StoreError>;

    /// Moves the lease end ahead if and only if
    /// [`decide::may_renew`](crate::decide::may_renew) says so, as
    /// [`decide::renewed`](crate::decide::renewed) says. Times only ever grow.
    ///
    /// # Errors
    /// Whatever kept the store from deciding; a claim that is gone is [`RenewAnswer::Lost`].
    async fn renew(&self, request: &RenewRequest) -> Result<RenewAnswer, StoreError>;

    /// Reads the record, strongly consistent. An expired one is absent.
    ///
    /// # Errors
    /// Whatever kept the store from reading.
    async fn get(&self, id: &RecordId, now: EpochMillis) -> Result<Reading, StoreError>;

    /// What an encrypted result is bound to besides its record: the table's name, say. The same for
    /// every client of the same records.
    fn location(&self) -> &str {
        ""
    }

    /// Refuses a record that the store cannot hold, before it is written. By default none is too large.
    ///
    /// # Errors
    /// [`TooLarge`] with both sizes.
    fn check_size(&self, record: &Record) -> Result<(), TooLarge> {
        let _ = record;
        Ok(())
    }
}

/// What a claim writes, and on what condition.
#[derive(Clone, Debug)]
pub struct ClaimRequest {
    /// The record to claim.
    pub id: RecordId,
    /// The attempt that claims.
    pub owner: Owner,
    /// The fingerprint of its content; `None` when it is switched off.
    pub validation: Option<Validation>,
    /// `expiration` of the new record.
    pub expiration: EpochSeconds,
    /// `in_progress_expiration` of the new record.
    pub lease_end: EpochMillis,
    /// `deadline` of the new record: only with at-most-once.
    pub deadline: Option<EpochMillis>,
    /// How long after its lease end an unfinished claim is left alone, for clocks that differ.
    pub margin: Duration,
    /// The instant of the condition, where the store has no clock of its own.
    pub now: EpochMillis,
}

impl ClaimRequest {
    /// The record that this claim writes.
    pub fn record(&self) -> Record {
        Record {
            id: self.id.clone(),
            expiration: self.expiration,
            status: Status::InProgress,
            lease_end: Some(self.lease_end),
            owner: Some(self.owner.clone()),
            validation: self.validation.as_ref().map(|v| v.as_str().to_owned()),
            data: None,
            encoding: None,
            deadline: self.deadline,
            stored_at: None,
        }
    }
}

/// What became of a claim.
#[derive(Clone, Debug)]
pub enum ClaimAnswer {
    /// The record is ours now.
    Claimed(Replaced),
    /// A record is in the way.
    Refused {
        /// The record as it is.
        record: Record,
        /// The instant that the condition used.
        now: EpochMillis,
    },
    /// As `Refused`, by a final record that this process remembers: the store was not asked.
    Remembered {
        /// The record as it was.
        record: Record,
        /// The instant at which it still counted.
        now: EpochMillis,
    },
    /// A record was in the way, but when the store looked for it, it was gone: claim again.
    Vanished,
}

/// What a successful claim wrote over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// There was no record.
    Nothing,
    /// A record that had stopped counting: this is a first run.
    Expired,
    /// An unfinished claim whose lease and margin had passed: this is a takeover.
    Abandoned,
}

/// A final record and the attempt that writes it.
#[derive(Clone, Debug)]
pub struct CompleteRequest {
    /// The final record, whole; its owner is the attempt that completes.
    pub record: Record,
    /// The completing attempt.
    pub owner: Owner,
    /// The instant of the condition, where the store has no clock of its own.
    pub now: EpochMillis,
}

impl CompleteRequest {
    /// A token of this very request, for a service that applies a request with one token once: the same for each
    /// resend and other for any other. 32 characters of `[0-9a-f]`.
    pub fn token(&self) -> String {
        let Record { id, expiration, data, stored_at, .. } = &self.record;
        let mut hash = Sha256::new();
        let stored_at = stored_at.map_or(0, EpochMillis::get);
        for part in [self.owner.as_str(), id.as_str(), data.as_deref().unwrap_or("")] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.update(expiration.get().to_be_bytes());
        hash.update(stored_at.to_be_bytes());
        hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What became of a completion.
#[derive(Clone, Debug)]
pub enum CompleteAnswer {
    /// The result is recorded.
    Recorded,
    /// Another attempt holds or held the record.
    Overtaken {
        /// Its record.
        record: Record,
    },
    /// Another attempt's record was in the way, but when the store looked for it, it was gone:
    /// complete again.
    Vanished,
}

/// Writes of the caller's that are applied together with the completion. Each store with transactions
/// has a type of its own for them.
pub trait Writes: Any + fmt::Debug + Send + Sync {
    /// For the store that knows the type.
    fn as_any(&self) -> &dyn Any;
}

/// What became of a completion with writes of the caller's.
#[derive(Clone, Debug)]
pub enum CommitAnswer {
    /// Record and writes are applied, now or by an earlier try.
    Committed,
    /// Another attempt holds or held the record; nothing is applied.
    Overtaken {
        /// Its record.
        record: Record,
    },
    /// Another attempt's record was in the way, but when the store looked for it, it was gone: commit
    /// again. Nothing is applied.
    Vanished,
    /// One of the caller's own conditions did not hold; nothing is applied.
    Refused {
        /// One for each write that refused.
        reasons: Vec<RefusedWrite>,
    },
}

/// Why one of the caller's writes refused a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedWrite {
    /// Which of the caller's writes, from 0.
    pub index: usize,
    /// The store's code (`ConditionalCheckFailed`, …).
    pub code: String,
}

impl fmt::Display for RefusedWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "write {}: {}", self.index, self.code)
    }
}

/// Which claim is given back.
#[derive(Clone, Debug)]
pub struct ReleaseRequest {
    /// The record.
    pub id: RecordId,
    /// The attempt that gives it back.
    pub owner: Owner,
    /// Whether an attempt before it may have had an effect: then the record is
    /// [left](crate::decide::left) as an abandoned claim, which the next attempt takes over, and not deleted.
    pub leave: bool,
}

/// What became of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseAnswer {
    /// The record is gone and the next attempt is a first run; or it is left, and the next one a takeover.
    Released,
    /// There was nothing of ours to release.
    NotMine,
}

/// How far a lease is moved.
#[derive(Clone, Debug)]
pub struct RenewRequest {
    /// The record.
    pub id: RecordId,
    /// The attempt that holds it.
    pub owner: Owner,
    /// The new lease end.
    pub lease_end: EpochMillis,
    /// `expiration` is moved to this at least: never before lease end + margin.
    pub expiration: EpochSeconds,
    /// With at-most-once, `deadline` is moved to this, and `in_progress_expiration` follows `expiration`.
    pub deadline: Option<EpochMillis>,
    /// The instant of the condition, where the store has no clock of its own.
    pub now: EpochMillis,
}

/// What became of a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenewAnswer {
    /// The lease ends at the new instant.
    Renewed,
    /// The claim is not ours any more, is final, or ends later already.
    Lost,
}

/// What a read found.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The record, unless there is none or it has expired.
    pub record: Option<Record>,
    /// The instant by which it was judged.
    pub now: EpochMillis,
}

/// A record that the store cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// What the record would take, names included, in bytes.
    pub bytes: usize,
    /// The most that the store holds, in bytes.
    pub limit: usize,
}

#[async_trait::async_trait]
impl<S: Store + ?Sized> Store for Arc<S> {
    async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
        (**self).claim(request).await
    }
    async fn complete(&self, request: &CompleteRequest) -> Result<CompleteAnswer, StoreError> {
        (**self).complete(request).await
    }
    async fn commit(
        &self,
        request: &CompleteRequest,
        writes: &dyn Writes,
    ) -> Result<CommitAnswer, StoreError> {
        (**self).commit(request, writes).await
    }
    async fn release(&self, request: &ReleaseRequest) -> Result<ReleaseAnswer, StoreError> {
        (**self).release(request).await
    }
    async fn renew(&self, request: &RenewRequest) -> Result<RenewAnswer, StoreError> {
        (**self).renew(request).await
    }
    async fn get(&self, id: &RecordId, now: EpochMillis) -> Result<Reading, StoreError> {
        (**self).get(id, now).await
    }
    fn location(&self) -> &str {
        (**self).location()
    }
    fn check_size(&self, record: &Record) -> Result<(), TooLarge> {
        (**self).check_size(record)
    }
}
