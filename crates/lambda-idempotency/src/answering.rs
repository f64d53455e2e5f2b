//! The handler service that answers refusals.

use std::error::Error as StdError;
use std::fmt;
use std::future::{Future, ready};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use lambda_runtime::{Diagnostic, LambdaEvent};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use tower::Service;

use crate::refused::{OnRefused, ended, unreadable, warn_if_hidden};
use crate::service_fn::{diagnose, invocation};
use crate::{Error, observed};

/// See [`ServiceFn::on_refused`](crate::ServiceFn::on_refused).
pub struct AnsweringFn<F, A> {
    handler: F,
    on_refused: OnRefused,
    event: PhantomData<fn(A)>,
}

impl<F, A> AnsweringFn<F, A> {
    pub(crate) fn new(handler: F, on_refused: OnRefused) -> Self {
        Self { handler, on_refused, event: PhantomData }
    }
}

// By hand: a derived one would ask for `A: Clone`.
impl<F: Clone, A> Clone for AnsweringFn<F, A> {
    fn clone(&self) -> Self {
        Self::new(self.handler.clone(), self.on_refused)
    }
}

impl<F, A> fmt::Debug for AnsweringFn<F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnsweringFn").field("handler", &std::any::type_name::<F>()).finish_non_exhaustive()
    }
}

impl<F, A, Fut, R, E> Service<LambdaEvent<Box<RawValue>>> for AnsweringFn<F, A>
where
    F: FnMut(LambdaEvent<A>) -> Fut,
    Fut: Future<Output = Result<R, E>> + Send + 'static,
    R: Serialize,
    E: Into<Box<dyn StdError + Send + Sync>>,
    A: DeserializeOwned,
{
    type Response = Box<RawValue>;
    type Error = Diagnostic;
    type Future = Pin<Box<dyn Future<Output = Result<Box<RawValue>, Diagnostic>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Diagnostic>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, event: LambdaEvent<Box<RawValue>>) -> Self::Future {
        // The text is kept: it says who sent the event, which the handler's type need not.
        let LambdaEvent { payload: text, context } = event;
        let payload = match serde_json::from_str(text.get()) {
            Ok(payload) => payload,
            Err(error) => return Box::pin(ready(Err(unreadable::<A>(&error)))),
        };
        let invocation = invocation(&context);
        let running = observed(invocation.scope((self.handler)(LambdaEvent::new(payload, context))));
        let on_refused = self.on_refused;
        Box::pin(async move {
            let (ended_with, seen) = running.await;
            match ended_with {
                Ok(response) => to_raw_value(&response).map_err(diagnose),
                Err(error) => {
                    let error = error.into();
                    if Error::find(&*error).is_none() {
                        seen.iter().for_each(warn_if_hidden);
                    }
                    ended::<E>(Some(on_refused), error, &text)
                }
            }
        })
    }
}
