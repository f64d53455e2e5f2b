//! The guarded handler.

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use lambda_idempotency_core::RunError;
use lambda_runtime::{Diagnostic, LambdaEvent};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tower::Service;

use super::Guard;
use crate::Outcome;
use crate::bounds::Recordable;
use crate::refused::{ended, unreadable};
use crate::service_fn::{diagnose, invocation};

/// See [`IdempotencyLayer`](super::IdempotencyLayer).
pub struct IdempotencyService<S, A> {
    guard: Guard,
    inner: S,
    event: PhantomData<fn(A)>,
}

impl<S, A> IdempotencyService<S, A> {
    pub(super) fn new(guard: Guard, inner: S) -> Self {
        Self { guard, inner, event: PhantomData }
    }
}

impl<S: Clone, A> Clone for IdempotencyService<S, A> {
    fn clone(&self) -> Self {
        Self::new(self.guard.clone(), self.inner.clone())
    }
}

impl<S: fmt::Debug, A> fmt::Debug for IdempotencyService<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdempotencyService").field("guard", &self.guard).field("inner", &self.inner).finish()
    }
}

impl<S, A> Service<LambdaEvent<Box<RawValue>>> for IdempotencyService<S, A>
where
    S: Service<LambdaEvent<A>> + Clone + Send + 'static,
    S::Response: Recordable + Send,
    S::Error: Into<Box<dyn StdError + Send + Sync>> + Send,
    S::Future: Send,
    A: DeserializeOwned + Send + 'static,
{
    type Response = Box<RawValue>;
    type Error = Diagnostic;
    type Future = Pin<Box<dyn Future<Output = Result<Box<RawValue>, Diagnostic>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Diagnostic>> {
        self.inner.poll_ready(context).map_err(diagnose)
    }

    fn call(&mut self, event: LambdaEvent<Box<RawValue>>) -> Self::Future {
        let guard = self.guard.clone();
        // The one that was polled ready is called; its clone waits for the next event.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        let invocation = invocation(&event.context);
        Box::pin(invocation.clone().scope(async move {
            let identity = guard.settings.identify_event(&event.payload, &invocation);
            let LambdaEvent { payload: text, context } = event;
            // Before the claim: an event that the handler cannot take is no work.
            let payload = serde_json::from_str(text.get()).map_err(|error| unreadable::<A>(&error))?;
            let work = |_| inner.call(LambdaEvent { payload, context });
            let outcome =
                guard.settings.run(&*guard.store, guard.clock, identity, &guard.results, work).await;
            match outcome {
                Ok(Outcome::Replayed(answer, replay)) => Ok(match guard.on_replay {
                    Some(change) => changed(&answer, |value| change(value, &replay)).unwrap_or(answer),
                    None => answer,
                }),
                // Skipped is no answer: `null`.
                Ok(outcome) => Ok(outcome.into_value().unwrap_or_default()),
                Err(RunError::Idempotency(error)) => {
                    ended::<crate::Error>(guard.on_refused, error.into(), &text)
                }
                Err(RunError::Function(error) | RunError::Replayed(error, _)) => {
                    ended::<S::Error>(guard.on_refused, error.into(), &text)
                }
            }
        }))
    }
}

/// `answer` after `change`; `None` if it cannot be read or written, which JSON can.
fn changed(answer: &RawValue, change: impl FnOnce(&mut serde_json::Value)) -> Option<Box<RawValue>> {
    let mut value = serde_json::from_str(answer.get()).ok()?;
    change(&mut value);
    serde_json::value::to_raw_value(&value).ok()
}
