//! After the work: its result recorded and given to everybody, or the key given back.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use super::Identity;
use super::encoding::leave_out;
use super::kept::Kept;
use super::report::Report;
use super::results::Results;
use super::run::{Holder, RESERVE, Run};
use crate::decide::{self, Overtaken, Times};
use crate::{
    Attempt, CipherError, CommitAnswer, CompleteAnswer, CompleteRequest, EpochMillis, Error, JsonFault,
    NotRecordedReason, OnError, Outcome, Owner, Record, Redacted, ReleaseAnswer, ReleaseRequest, Replay,
    ReplaySource, RunError, Status, StoreError, Writes,
};

/// First pause before a completion is tried again; doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

impl Run<'_> {
    /// Records `value` as the answer, together with the function's writes where it has any.
    pub(super) async fn complete<T, E, R: Results<T, E>>(
        &self,
        holder: &Holder,
        attempt: &Attempt,
        value: T,
        results: &R,
        report: &mut Report,
    ) -> Result<Outcome<R::Answer>, RunError<E>> {
        let id = || holder.identity.id.clone();
        let not_recorded = |json: Option<String>, source| {
            Err(Error::NotRecorded { id: id(), value: Redacted::new(json), source }.into())
        };
        let writes = attempt.take_writes();
        let json = match catch_unwind(AssertUnwindSafe(|| results.encode(&value))) {
            Ok(Ok(json)) => json,
            Err(panic) => {
                report.note(
                    "the result's `Serialize` panicked: the record says that the work is done, without it",
                );
                self.unstorable(holder, attempt, "", writes.is_some(), report).await;
                resume_unwind(panic)
            }
            Ok(Err(fault)) => {
                self.unstorable(holder, attempt, "", writes.is_some(), report).await;
                return not_recorded(None, NotRecordedReason::NotJson(fault));
            }
        };
        let decodes = || catch_unwind(AssertUnwindSafe(|| results.replayed(&json).is_ok())).unwrap_or(false);
        if cfg!(debug_assertions) && !decodes() {
            // Better heard in the first test than at the first duplicate.
            report.note("the recorded result does not decode as the function's result type: no replay will");
        }
        let request = match self.completion(holder, Status::Completed, &json, report).await {
            Ok(request) => request,
            Err(fault) => {
                self.unstorable(holder, attempt, &json, writes.is_some(), report).await;
                return not_recorded(Some(json), NotRecordedReason::NotEncrypted(fault));
            }
        };
        match self.commit_while_time_is_left(&request, writes.as_deref()).await {
            Ok(CommitAnswer::Committed) => Ok(Outcome::Executed(results.executed(value, &json))),
            Ok(CommitAnswer::Overtaken { record }) => self.overtaken(holder, &record, results, report).await,
            Ok(CommitAnswer::Refused { reasons }) => {
                if self.policy().after_error() == OnError::Release {
                    self.give_back(holder, attempt, report).await;
                }
                Err(Error::TransactionRefused { id: id(), reasons }.into())
            }
            Ok(CommitAnswer::Vanished) => not_recorded(Some(json), NotRecordedReason::Contradiction),
            Err(source) => not_recorded(Some(json), NotRecordedReason::Store(source)),
        }
    }

    /// Records `error` as the answer. Whatever goes wrong with that, the caller gets the error: a failure
    /// that is not recorded keeps its claim.
    pub(super) async fn complete_failure<T, E, R: Results<T, E>>(
        &self,
        holder: &Holder,
        error: E,
        results: &R,
        report: &mut Report,
    ) -> Result<Outcome<R::Answer>, RunError<E>> {
        let json = match results.encode_failure(&error) {
            Some(Ok(json)) => json,
            Some(Err(fault)) => {
                report.note(&format!("the failure could not be stored ({fault}); its claim is kept"));
                return Err(RunError::Function(error));
            }
            None => {
                report.note("the function's failures cannot be stored; its claim is kept");
                return Err(RunError::Function(error));
            }
        };
        let request = match self.completion(holder, Status::Failed, &json, report).await {
            Ok(request) => request,
            Err(fault) => {
                report.note(&format!("the failure could not be encrypted ({fault}); its claim is kept"));
                return Err(RunError::Function(error));
            }
        };
        match self.commit_while_time_is_left(&request, None).await {
            Ok(CommitAnswer::Committed) => {}
            Ok(CommitAnswer::Overtaken { record }) => {
                return self.overtaken(holder, &record, results, report).await;
            }
            Ok(CommitAnswer::Vanished | CommitAnswer::Refused { .. }) => {
                report.note("the failure could not be stored");
            }
            Err(source) => report.note(&format!("the failure could not be stored: {source}")),
        }
        Err(RunError::Function(error))
    }

    /// Another attempt has the record: its answer, if it is final and provably of the same content.
    async fn overtaken<T, E, R: Results<T, E>>(
        &self,
        holder: &Holder,
        record: &Record,
        results: &R,
        report: &mut Report,
    ) -> Result<Outcome<R::Answer>, RunError<E>> {
        report.lease_lost();
        match decide::overtaken_by(record, holder.identity.validation.as_ref()) {
            Overtaken::Answer => self.replay(record, ReplaySource::Store, results).await,
            Overtaken::LeaseLost => Err(Error::LeaseLost { id: holder.identity.id.clone() }.into()),
        }
    }

    /// The final record, built once: every retry sends the same.
    async fn completion(
        &self,
        holder: &Holder,
        status: Status,
        json: &str,
        report: &mut Report,
    ) -> Result<CompleteRequest, CipherError> {
        let now = self.clock.now();
        let mut record = self.final_record(holder, status);
        self.keep(&mut record, &holder.owner, json, report).await?;
        Ok(CompleteRequest { record, owner: holder.owner.clone(), now })
    }

    /// A final record of `holder`'s without its result.
    fn final_record(&self, holder: &Holder, status: Status) -> Record {
        let now = self.clock.now();
        Record {
            id: holder.identity.id.clone(),
            expiration: decide::expires_at(self.settings.expires_after(&self.invocation), now),
            status,
            lease_end: Some(holder.times.lease_end),
            owner: Some(holder.owner.clone()),
            validation: holder.identity.validation.as_ref().map(|v| v.as_str().to_owned()),
            data: None,
            encoding: None,
            deadline: None,
            stored_at: Some(now),
        }
    }

    /// A result that cannot be stored. The work is done, and would be done again at every delivery if nothing
    /// were recorded, so the record says that it is; but where writes belong to the result, neither is written,
    /// and it is as after a failure. The caller has an error already.
    async fn unstorable(
        &self,
        holder: &Holder,
        attempt: &Attempt,
        json: &str,
        has_writes: bool,
        report: &mut Report,
    ) {
        if has_writes {
            if self.policy().after_error() == OnError::Release {
                self.give_back(holder, attempt, report).await;
            }
            return;
        }
        let mut record = self.final_record(holder, Status::Completed);
        leave_out(&mut record, json);
        let request = CompleteRequest { record, owner: holder.owner.clone(), now: self.clock.now() };
        if let Err(error) = self.commit_while_time_is_left(&request, None).await {
            tracing::warn!(target: "lambda_idempotency", record_id = %request.record.id, %error, "nothing is recorded");
        }
    }

    /// Records a result after a claim that was not answered; one try, of which the caller hears nothing.
    pub(super) async fn record_if_possible(
        &self,
        identity: &Identity,
        owner: &Owner,
        until: EpochMillis,
        (status, json): (Status, &str),
        report: &mut Report,
    ) {
        let expiration = decide::expires_at(self.settings.expires_after(&self.invocation), self.clock.now());
        let times = Times { holder_until: until, lease_end: until, expiration, deadline: None };
        let holder = Holder { identity: identity.clone(), owner: owner.clone(), times, takeover: false };
        if let Ok(request) = self.completion(&holder, status, json, report).await {
            let _ = self.within_limit("complete", self.commit_once(&request, None)).await;
        }
    }

    /// The effect has happened, so the completion is worth every try that the time left allows. Each try
    /// is the same request.
    async fn commit_while_time_is_left(
        &self,
        request: &CompleteRequest,
        writes: Option<&dyn Writes>,
    ) -> Result<CommitAnswer, StoreError> {
        let give_up_at = match self.invocation.deadline.instant() {
            Some(deadline) => deadline.minus(RESERVE),
            None => self.clock.now().plus(self.policy().store_timeout.saturating_mul(3)),
        };
        // After its own expiration an earlier try that was applied has left no trace: the writes of a
        // transaction would be applied twice.
        let give_up_at = give_up_at.min(request.record.expiration.start());
        let mut pause = FIRST_PAUSE;
        loop {
            let answer = self.within_limit("complete", self.commit_once(request, writes)).await;
            let has_time = self.clock.now().plus(pause) < give_up_at;
            match answer {
                Err(error) if error.is_retryable() && has_time => {
                    tracing::warn!(
                        target: "lambda_idempotency",
                        record_id = %request.record.id,
                        %error,
                        "the completion is tried again"
                    );
                }
                Ok(CommitAnswer::Vanished) if has_time => {}
                answer => return answer,
            }
            self.clock.sleep(pause).await;
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
    }

    async fn commit_once(
        &self,
        request: &CompleteRequest,
        writes: Option<&dyn Writes>,
    ) -> Result<CommitAnswer, StoreError> {
        match writes {
            Some(writes) => self.store.commit(request, writes).await,
            None => Ok(match self.store.complete(request).await? {
                CompleteAnswer::Recorded => CommitAnswer::Committed,
                CompleteAnswer::Overtaken { record } => CommitAnswer::Overtaken { record },
                CompleteAnswer::Vanished => CommitAnswer::Vanished,
            }),
        }
    }

    /// Gives the key back; after a takeover as an abandoned claim, so that the next attempt knows of the one that was
    /// abandoned. Nothing that goes wrong here may hide the function's own error.
    pub(super) async fn release(&self, holder: &Holder) -> Option<ReleaseAnswer> {
        let Holder { identity, owner, takeover, .. } = holder;
        let request =
            ReleaseRequest { id: identity.id.clone(), owner: owner.clone(), leave: self.leaves(*takeover) };
        match self.within_limit("release", self.store.release(&request)).await {
            Ok(answer) => Some(answer),
            Err(error) => {
                tracing::warn!(
                    target: "lambda_idempotency",
                    record_id = %request.id,
                    %error,
                    "the claim of a failed function could not be released; it holds until its lease has passed"
                );
                None
            }
        }
    }

    /// Whether a claim that is given back, and may have replaced an abandoned one, is left. Not with at-most-once,
    /// where an abandoned claim is nobody's to take, and so was not replaced.
    pub(super) fn leaves(&self, takeover: bool) -> bool {
        takeover && !self.policy().at_most_once
    }

    /// The answer that a final record holds.
    pub(super) async fn replay<T, E, R: Results<T, E>>(
        &self,
        record: &Record,
        source: ReplaySource,
        results: &R,
    ) -> Result<Outcome<R::Answer>, RunError<E>> {
        let replay = Replay { stored_at: record.stored_at, expires_at: record.expiration, source };
        let json = match self.kept(record).await? {
            Kept::Json(json) => json,
            Kept::Nothing(bytes) => {
                return Err(Error::ResultNotStored { id: record.id.clone(), bytes }.into());
            }
            Kept::Unreadable(fault) => return Err(undecodable::<T>(record, fault).into()),
        };
        if record.status == Status::Failed {
            let failure = results.decode_failure(&json).unwrap_or(Err(JsonFault::STORED_FAILURE));
            return match failure {
                Ok(error) => Err(RunError::Replayed(error, replay)),
                Err(fault) => Err(undecodable::<E>(record, fault).into()),
            };
        }
        let answer = results.replayed(&json).map_err(|fault| undecodable::<T>(record, fault))?;
        results.on_replay(&answer, &replay).map_err(RunError::Function)?;
        Ok(Outcome::Replayed(answer, replay))
    }
}

fn undecodable<T>(record: &Record, fault: JsonFault) -> Error {
    Error::ReplayDecode { id: record.id.clone(), expected: std::any::type_name::<T>(), fault }
}
