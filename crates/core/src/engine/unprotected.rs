//! Work that runs without a claim of its own: without a key, switched off, or because the store does not answer.

use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;

use futures_util::FutureExt;

use super::Identity;
use super::callbacks;
use super::report::Report;
use super::results::Results;
use super::run::Run;
use crate::decide::LONGEST_RUN;
use crate::{Attempt, EpochMillis, OnError, Outcome, Owner, ReleaseRequest, RunError, Status};

impl Run<'_> {
    /// Runs the work without a record; its steps have no tokens.
    pub(super) async fn unprotected<T, R, E, F, Fut>(
        &self,
        results: &R,
        work: F,
    ) -> Result<Outcome<R::Answer>, RunError<E>>
    where
        R: Results<T, E>,
        F: FnOnce(Attempt) -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let attempt = Attempt::new(None, false, self.unguarded_until(), Arc::clone(&self.clock));
        let value =
            attempt.clone().scope(async move { work(attempt).await }).await.map_err(RunError::Function)?;
        self.answer(results, value).map(Outcome::Unprotected)
    }

    /// Fail-open: runs the work although the store gave no answer to the claim. The claim can have been applied
    /// all the same, so the work's end is written as if it were held, once and as far as the store takes it:
    /// the condition on the owner makes that safe, and a later duplicate then meets the answer.
    pub(super) async fn unprotected_after<T, R, E, F, Fut>(
        &self,
        identity: &Identity,
        owner: &Owner,
        results: &R,
        work: F,
        report: &mut Report,
    ) -> Result<Outcome<R::Answer>, RunError<E>>
    where
        R: Results<T, E>,
        F: FnOnce(Attempt) -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let until = self.unguarded_until();
        let attempt = Attempt::new(None, false, until, Arc::clone(&self.clock));
        let body = attempt.clone().scope({
            let attempt = attempt.clone();
            async move { work(attempt).await }
        });
        let ended = AssertUnwindSafe(Box::pin(body)).catch_unwind().await;
        // Nothing of the value is borrowed while the store is asked: it may be no `Sync`.
        let (json, give_back) = match &ended {
            Ok(Ok(value)) => {
                let is_answer = callbacks::ask("store_if", report, || results.is_answer(value));
                let json = is_answer.then(|| results.encode(value).ok()).flatten();
                (json.map(|json| (Status::Completed, json)), !is_answer)
            }
            Ok(Err(error)) => {
                let asked = callbacks::ask("on_error", report, || results.on_error(error));
                match asked.unwrap_or(self.policy().after_error()) {
                    OnError::Release => (None, true),
                    OnError::Store if attempt.was_refused_inside() => (None, true),
                    OnError::Store => {
                        let json = results.encode_failure(error).and_then(Result::ok);
                        (json.map(|json| (Status::Failed, json)), false)
                    }
                    OnError::Keep => (None, false),
                }
            }
            Err(_) => (None, true),
        };
        if let Some((status, json)) = json {
            self.record_if_possible(identity, owner, until, (status, &json), report).await;
        }
        if give_back && self.policy().after_error() == OnError::Release && !attempt.has_effect() {
            // What the claim replaced, if it was applied, is not known.
            let leave = self.leaves(true);
            let request = ReleaseRequest { id: identity.id.clone(), owner: owner.clone(), leave };
            // Whether it is answered changes nothing for the caller.
            let _ = self.within_limit("release", self.store.release(&request)).await;
        }
        match ended {
            Ok(Ok(value)) => self.answer(results, value).map(Outcome::Unprotected),
            Ok(Err(error)) => Err(RunError::Function(error)),
            Err(panic) => resume_unwind(panic),
        }
    }

    /// When an invocation without a claim is stopped.
    fn unguarded_until(&self) -> EpochMillis {
        self.invocation.deadline.instant().unwrap_or_else(|| self.clock.now().plus(LONGEST_RUN))
    }
}
