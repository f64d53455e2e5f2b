//! The handler service that passes the invocation on and names this library's errors.

use std::error::Error as StdError;
use std::future::Future;
use std::task::{Context, Poll};

use futures_util::TryFutureExt;
use futures_util::future::MapErr;
use lambda_idempotency_core::InInvocation;
use lambda_idempotency_core::decide::Deadline;
use lambda_runtime::{Diagnostic, LambdaEvent};
use tower::Service;

use crate::{Error, Invocation};

/// A drop-in for `lambda_runtime::service_fn`.
///
/// It gives the functions that the handler calls the invocation's deadline and tenant, and answers
/// this library's errors with a stable `error_type` (`IdempotencyAlreadyInProgress`, …) that alarms
/// and Step Functions can match; other errors leave as `lambda_runtime` would send them. This library's
/// errors are recognised by [`Error::find`], which cannot see into a bare `anyhow::Error` or through
/// `#[error(transparent)]`.
///
/// ```no_run
/// # async fn handler(_: lambda_runtime::LambdaEvent<()>) -> Result<(), lambda_runtime::Error> { Ok(()) }
/// # async fn start() -> Result<(), lambda_runtime::Error> {
/// lambda_runtime::run(lambda_idempotency::service_fn(handler)).await
/// # }
/// ```
pub fn service_fn<F>(handler: F) -> ServiceFn<F> {
    ServiceFn { handler }
}

/// See [`service_fn`].
#[derive(Clone, Copy, Debug)]
pub struct ServiceFn<F> {
    handler: F,
}

impl<F, A, Fut, R, E> Service<LambdaEvent<A>> for ServiceFn<F>
where
    F: FnMut(LambdaEvent<A>) -> Fut,
    Fut: Future<Output = Result<R, E>>,
    E: Into<Box<dyn StdError + Send + Sync>>,
{
    type Response = R;
    type Error = Diagnostic;
    type Future = MapErr<InInvocation<Fut>, fn(E) -> Diagnostic>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Diagnostic>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, event: LambdaEvent<A>) -> Self::Future {
        let invocation = invocation(&event.context);
        invocation.scope((self.handler)(event)).map_err(diagnose as fn(E) -> Diagnostic)
    }
}

/// What this library needs of a Lambda context.
pub(crate) fn invocation(context: &lambda_runtime::Context) -> Invocation {
    Invocation::new(Deadline::from_epoch_millis(context.deadline)).tenant(context.tenant_id.clone())
}

/// An error as Lambda reports it: ours by their stable names, others as `lambda_runtime` would.
pub(crate) fn diagnose<E: Into<Box<dyn StdError + Send + Sync>>>(error: E) -> Diagnostic {
    let error = error.into();
    let error_message = error.to_string();
    match Error::find(&*error) {
        Some(ours) => {
            let reason = ours.to_string();
            let error_message = match error_message.contains(&reason) {
                true => error_message,
                false => format!("{error_message}: {reason}"),
            };
            Diagnostic { error_type: ours.error_type(), error_message }
        }
        // As `lambda_runtime` names it.
        None => Diagnostic { error_type: format!("&{}", std::any::type_name::<E>()), error_message },
    }
}
