//! One guarded call from claim to answer.

use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::callbacks;
use super::claim::{Busy, Claimed};
use super::report::Report;
use super::results::Results;
use super::{Identity, Settings};
use crate::decide::Times;
use crate::{
    Attempt, Clock, Error, InProgress, Invocation, OnError, Outcome, Owner, Policy, ReleaseAnswer, RunError,
    Store,
};
use futures_util::FutureExt;

/// What is done about the store, waiting included, ends this long before the own deadline, so that the caller
/// still gets its answer.
pub(super) const RESERVE: Duration = Duration::from_millis(250);

/// Everything that one call needs besides its work.
pub(super) struct Run<'a> {
    pub(super) settings: &'a Settings,
    pub(super) store: &'a dyn Store,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) invocation: Invocation,
}

/// A claim that this attempt holds. Only this can complete or release.
pub(super) struct Holder {
    pub(super) identity: Identity,
    pub(super) owner: Owner,
    pub(super) times: Times,
    pub(super) takeover: bool,
}

impl Run<'_> {
    pub(super) async fn guarded<T, R, E, F, Fut>(
        &self,
        identity: Option<Identity>,
        results: &R,
        work: F,
        report: &mut Report,
    ) -> Result<Outcome<R::Answer>, RunError<E>>
    where
        R: Results<T, E>,
        F: FnOnce(Attempt) -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let Some(identity) = identity else {
            report.note("the event lacks the key, and the policy lets it run");
            return self.unprotected(results, work).await;
        };
        report.id(identity.id());
        let owner = self.new_owner()?;
        let claimed = match self.claim(&identity, &owner, report).await {
            Ok(Claimed::Busy(busy)) => self.wait(busy, &identity, &owner, report).await,
            // Only where nobody is known to be at work, and only for trouble that passes.
            Err(Error::Store { source, .. }) if self.policy().fail_open && source.is_retryable() => {
                report.note(&format!("fail-open: {source}"));
                return self.unprotected_after(&identity, &owner, results, work, report).await;
            }
            claimed => claimed,
        };
        let holder = match claimed {
            Ok(Claimed::Held(holder)) => holder,
            Ok(Claimed::Answered(record, found)) => return self.replay(&record, found, results).await,
            Ok(Claimed::Busy(_)) if self.policy().in_progress == InProgress::Skip => {
                return Ok(Outcome::Skipped);
            }
            Ok(Claimed::Busy(Busy { retry_at, now })) => {
                return Err(Error::AlreadyInProgress { id: identity.id, retry_at, now }.into());
            }
            Err(error) => return Err(error.into()),
        };
        report.takeover(holder.takeover);
        let previous = match self.previous(&holder.identity).await {
            Ok(previous) => previous,
            Err(error) => {
                let Holder { identity, owner, takeover, .. } = &holder;
                self.release_shortly(&identity.id, owner, *takeover).await;
                return Err(error.into());
            }
        };
        let now = self.clock.now();
        if holder.times.holder_until <= now {
            // The claim's answer took longer than the lease: others may have the record by now.
            self.release(&holder).await;
            let deadline = holder.times.holder_until;
            return Err(Error::DeadlinePassed { id: holder.identity.id, deadline, now }.into());
        }

        let attempt = Attempt::new(
            Some(holder.identity.id.clone()),
            holder.takeover,
            holder.times.holder_until,
            Arc::clone(&self.clock),
        )
        .continuing(previous);
        // The work is called inside the guarded future as well: a closure can panic before its future exists.
        let body = attempt.clone().scope({
            let attempt = attempt.clone();
            async move { work(attempt).await }
        });
        // Boxed: the body's future can be large, and every caller's future holds this one.
        let body = Box::pin(self.renewing(&holder, &attempt, body));
        let ended = AssertUnwindSafe(body).catch_unwind().await;
        if self.clock.now() >= attempt.lease_end().plus(self.policy().margin) {
            report.lease_outlived();
        }
        let is_answer = match &ended {
            Ok(Ok(value)) => callbacks::ask("store_if", report, || results.is_answer(value)),
            _ => false,
        };
        match ended {
            Ok(Ok(value)) if is_answer => self.complete(&holder, &attempt, value, results, report).await,
            Ok(Ok(value)) => {
                let writes = attempt.take_writes().is_some();
                let gives_back = self.policy().after_error() == OnError::Release;
                if !gives_back || !self.give_back(&holder, &attempt, report).await {
                    report.note("the result is no answer for others, and its claim is kept");
                }
                match writes {
                    false => self.answer(results, value).map(Outcome::Executed),
                    true => Err(Error::Config {
                        message: format!(
                            "{}: `store_if` refused a result that was to be committed with writes; neither is written",
                            self.settings.name()
                        ),
                    }
                    .into()),
                }
            }
            Ok(Err(error)) => self.after_failure(&holder, &attempt, error, results, report).await,
            Err(panic) => {
                match self.policy().after_error() {
                    OnError::Release => drop(self.give_back(&holder, &attempt, report).await),
                    // A panic is no value that could be stored.
                    OnError::Keep | OnError::Store => {}
                }
                resume_unwind(panic)
            }
        }
    }

    /// The answer that a result is by itself, without a record.
    pub(super) fn answer<T, E, R: Results<T, E>>(
        &self,
        results: &R,
        value: T,
    ) -> Result<R::Answer, RunError<E>> {
        let function = || self.settings.name().to_owned();
        let answer = results.unprotected(value);
        answer.map_err(|reason| Error::InvalidResult { function: function(), reason }.into())
    }

    /// What becomes of the claim when the function has failed. Its error is the caller's in any case.
    async fn after_failure<T, E, R: Results<T, E>>(
        &self,
        holder: &Holder,
        attempt: &Attempt,
        error: E,
        results: &R,
        report: &mut Report,
    ) -> Result<Outcome<R::Answer>, RunError<E>> {
        let asked = callbacks::ask("on_error", report, || results.on_error(&error));
        let chosen = asked.unwrap_or(self.policy().after_error());
        let chosen = match chosen {
            // A guarded call inside was refused for now: that is no answer for a day.
            OnError::Store if attempt.was_refused_inside() => {
                report.note(
                    "the failure was not stored: a guarded call inside was refused and can succeed later",
                );
                OnError::Release
            }
            other => other,
        };
        match chosen {
            OnError::Release => drop(self.give_back(holder, attempt, report).await),
            OnError::Keep => {}
            OnError::Store => return self.complete_failure(holder, error, results, report).await,
        }
        Err(RunError::Function(error))
    }

    /// Releases the claim, unless the function has said that something is done already. Whether it is released.
    pub(super) async fn give_back(&self, holder: &Holder, attempt: &Attempt, report: &mut Report) -> bool {
        if attempt.has_effect() {
            return false;
        }
        let answer = self.release(holder).await;
        // Within the lease it is an earlier try of this very release, whose reply was lost.
        if answer == Some(ReleaseAnswer::NotMine) && self.clock.now() >= attempt.lease_end() {
            report.lease_lost();
        }
        if answer.is_some() {
            report.given_back();
        }
        answer.is_some()
    }

    pub(super) fn policy(&self) -> &Policy {
        self.settings.policy_ref()
    }
}
