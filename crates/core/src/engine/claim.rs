//! Winning the record, or learning why not.

use std::sync::Once;
use std::time::{Duration, Instant};

use lambda_idempotency_key::RecordId;

use super::Identity;
use super::encoding::Stored;
use super::report::Report;
use super::run::{Holder, RESERVE, Run};
use crate::decide::{self, Claimant, Content, Deadline, Times, Verdict};
use crate::{
    ClaimAnswer, ClaimRequest, EpochMillis, Error, Owner, Record, Redacted, ReleaseRequest, Replaced,
    ReplaySource, StoreError, StoreErrorKind,
};

/// How a claim ended, errors aside.
pub(super) enum Claimed {
    /// We hold the record.
    Held(Holder),
    /// The work has its answer: this final record.
    Answered(Record, ReplaySource),
    /// Another attempt is at work.
    Busy(Busy),
}

/// What is known of the attempt that is at work.
pub(super) struct Busy {
    /// The first moment at which its record can be claimed, if it has died.
    pub(super) retry_at: EpochMillis,
    /// The instant at which its record was judged.
    pub(super) now: EpochMillis,
}

/// How often a claim is tried when the record that refused it turns out to be claimable.
const TRIES: u32 = 3;
/// The longest pause between two such tries; each is a random part of it.
const PAUSE: Duration = Duration::from_millis(50);
/// How long a claim without an answer is tried to be given back.
const GIVING_BACK: Duration = Duration::from_millis(500);

impl Run<'_> {
    /// A token for this attempt, the same over all its tries, polls and resends.
    pub(super) fn new_owner(&self) -> Result<Owner, Error> {
        Owner::random().map_err(|error| Error::Config {
            message: format!("{}: the operating system gives no random bytes: {error}", self.settings.name()),
        })
    }

    pub(super) async fn claim(
        &self,
        identity: &Identity,
        owner: &Owner,
        report: &mut Report,
    ) -> Result<Claimed, Error> {
        for round in 0..TRIES {
            if round > 0 {
                self.clock.sleep(PAUSE.mul_f64(f64::from(round) * jitter(owner))).await;
            }
            let now = self.clock.now();
            let times = self.times(identity, now)?;
            let request = self.claim_request(identity, owner, times, now);
            let answer = self.claim_request_answered(&request).await;
            let (record, judged_at, found) = match answer {
                Ok(ClaimAnswer::Claimed(replaced)) => {
                    return Ok(self.held(identity, owner, times, replaced == Replaced::Abandoned));
                }
                Ok(ClaimAnswer::Refused { record, now }) => (record, now, ReplaySource::Store),
                Ok(ClaimAnswer::Remembered { record, now }) => (record, now, ReplaySource::Cache),
                Ok(ClaimAnswer::Vanished) => continue,
                Err(source) => return Err(store_failed(&identity.id, source)),
            };
            let verdict = decide::classify(&record, self.claimant(identity, owner), judged_at);
            match verdict {
                // What our lost first try replaced is not known: the function had better look.
                Verdict::Mine => return Ok(self.held(identity, owner, times_of(&record, times), true)),
                Verdict::Claimable(_) => {}
                _ => return self.refused(identity, (record, found), verdict, judged_at, report),
            }
        }
        Err(Error::InconsistentState { id: identity.id.clone(), tries: TRIES })
    }

    /// A claim whose answer was lost can have been applied. It is sent once more, by the same owner, which
    /// recognises itself; and if no answer comes at all, it is given back as far as the store can be reached,
    /// so that the retry of this event is not blocked by a claim of which nobody knows.
    async fn claim_request_answered(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
        let started = Instant::now();
        let first = self.before_work("claim", self.store.claim(request)).await;
        let Err(error) = first else { return first };
        if !error.is_retryable() {
            return Err(error);
        }
        // Within the limit of one verb altogether, as far as that can be had.
        let deadline = self.invocation.deadline.instant();
        let has_time =
            deadline.is_none_or(|deadline| self.clock.now().until(deadline) > RESERVE.saturating_mul(3));
        let error = if has_time && started.elapsed() < self.policy().store_timeout / 2 {
            self.clock.sleep(PAUSE).await;
            match self.before_work("claim", self.store.claim(request)).await {
                Err(error) if error.is_retryable() => error,
                answer => return answer,
            }
        } else {
            error
        };
        if error.kind() != StoreErrorKind::Throttled {
            // What it replaced, if it was applied, is not known.
            self.release_shortly(&request.id, &request.owner, true).await;
        }
        Err(error)
    }

    /// Gives a claim back under which nothing has run, as far as there is time for it: the error that is the reason
    /// is to reach the caller.
    pub(super) async fn release_shortly(&self, id: &RecordId, owner: &Owner, takeover: bool) {
        let release = ReleaseRequest { id: id.clone(), owner: owner.clone(), leave: self.leaves(takeover) };
        // Half of what was kept for the error is left for it.
        let deadline = self.invocation.deadline.instant();
        let left = deadline.map(|deadline| self.clock.now().until(deadline.minus(RESERVE / 2)));
        let limit = left.map_or(GIVING_BACK, |left| left.min(GIVING_BACK));
        let _ = tokio::time::timeout(limit, self.store.release(&release)).await;
    }

    pub(super) fn claimant<'a>(&self, identity: &'a Identity, owner: &'a Owner) -> Claimant<'a> {
        Claimant { owner, validation: identity.validation.as_ref(), margin: self.policy().margin }
    }

    /// What a refused claim, or a read, means for the caller.
    pub(super) fn refused(
        &self,
        identity: &Identity,
        (record, found): (Record, ReplaySource),
        verdict: Verdict,
        now: EpochMillis,
        report: &mut Report,
    ) -> Result<Claimed, Error> {
        let id = identity.id.clone();
        match verdict {
            Verdict::Mismatch => {
                // Not fetched from elsewhere: nobody may ask for it.
                let stored = match self.encoding().get(&record) {
                    Ok(Stored::Json(json)) if record.status.is_final() => Some(json.into_owned()),
                    _ => None,
                };
                let (status, expiration) = (record.status, record.expiration);
                Err(Error::PayloadMismatch { id, status, expiration, stored: Redacted::new(stored) })
            }
            Verdict::Interrupted => Err(Error::Interrupted { id }),
            Verdict::Busy { retry_at } => Ok(Claimed::Busy(Busy { retry_at, now })),
            Verdict::ReplayResult | Verdict::ReplayFailure | Verdict::Mine | Verdict::Claimable(_) => {
                let content = decide::same_content(&record, identity.validation.as_ref());
                if content == Content::NotComparable && identity.validation.is_some() {
                    report
                        .note("the stored answer has no fingerprint of this rule; it was accepted unchecked");
                }
                Ok(Claimed::Answered(record, found))
            }
        }
    }

    fn times(&self, identity: &Identity, now: EpochMillis) -> Result<Times, Error> {
        let deadline = self.invocation.deadline;
        if let Some(at) = deadline.instant().filter(|_| deadline.has_passed(now)) {
            return Err(Error::DeadlinePassed { id: identity.id.clone(), deadline: at, now });
        }
        if deadline == Deadline::Unknown {
            warn_unknown_deadline();
        }
        let expires_after = self.settings.expires_after(&self.invocation);
        if self.invocation.source_window.is_some_and(|window| expires_after < window) {
            self.settings.warn_short_expiry(expires_after, self.invocation.source_window.unwrap_or_default());
        }
        Ok(decide::lease_times(self.policy(), expires_after, deadline, now))
    }

    fn claim_request(
        &self,
        identity: &Identity,
        owner: &Owner,
        times: Times,
        now: EpochMillis,
    ) -> ClaimRequest {
        ClaimRequest {
            id: identity.id.clone(),
            owner: owner.clone(),
            validation: identity.validation.clone(),
            expiration: times.expiration,
            lease_end: times.lease_end,
            deadline: times.deadline,
            margin: self.policy().margin,
            now,
        }
    }

    fn held(&self, identity: &Identity, owner: &Owner, times: Times, takeover: bool) -> Claimed {
        Claimed::Held(Holder { identity: identity.clone(), owner: owner.clone(), times, takeover })
    }
}

pub(super) fn store_failed(id: &RecordId, source: StoreError) -> Error {
    let id = id.clone();
    match source.kind() {
        StoreErrorKind::Corrupt => Error::CorruptRecord { id, source },
        _ => Error::Store { id, source },
    }
}

/// The times of our own claim as it was applied, which may be an earlier try of it.
fn times_of(record: &Record, asked: Times) -> Times {
    Times {
        holder_until: record.deadline.or(record.lease_end).unwrap_or(asked.holder_until),
        lease_end: record.lease_end.unwrap_or(asked.lease_end),
        expiration: record.expiration,
        deadline: record.deadline,
    }
}

/// A part of one that differs between attempts: the owner token is random already.
pub(super) fn jitter(owner: &Owner) -> f64 {
    let digits =
        owner.as_str().get(..4).and_then(|hex| u16::from_str_radix(hex, 16).ok()).unwrap_or_default();
    f64::from(digits) / f64::from(u16::MAX)
}

fn warn_unknown_deadline() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tracing::warn!(
            target: "lambda_idempotency",
            "the deadline of this invocation is not an instant (a local tool?); a claim is held for 15 minutes"
        );
    });
}
