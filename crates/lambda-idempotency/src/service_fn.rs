//! The handler service that passes the invocation on and names this library's errors.

use std::error::Error as StdError;
use std::future::Future;
use std::task::{Context, Poll};

use futures_util::TryFutureExt;
use futures_util::future::MapErr;
use lambda_idempotency_core::InInvocation;
use lambda_idempotency_core::decide::Deadline;
use lambda_runtime::{Diagnostic, LambdaEvent};
use serde_json::Value;
use tower::Service;

use crate::answering::AnsweringFn;
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

impl<F> ServiceFn<F> {
    /// Answers errors of this library with a response, where the event is an HTTP request: of a function that is
    /// annotated, or that the handler calls and whose error [`Error::find`] finds in the handler's own. `None` leaves the
    /// error, and so do all other errors. [`proxy::problem`](crate::proxy::problem) is a response for each that a
    /// client can do something about.
    ///
    /// ```no_run
    /// use lambda_idempotency::{DynamoDbStore, Raw, idempotent, install, proxy, service_fn};
    /// use lambda_runtime::{Error, LambdaEvent, run};
    /// use serde_json::{Value, json};
    ///
    /// #[idempotent(key = "header(multiValueHeaders || headers, 'idempotency-key')", name = "orders.create")]
    /// async fn create(event: LambdaEvent<Raw<Value>>) -> Result<Value, Error> {
    ///     Ok(json!({"statusCode": 201, "body": "created"}))
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), Error> {
    ///     install(DynamoDbStore::from_env().await?)?;
    ///     run(service_fn(create).on_refused(proxy::problem)).await
    /// }
    /// ```
    ///
    /// The refusal is not recorded, and its log line and metrics are what they are without this; but the invocation is
    /// a success for Lambda, and in its metric `Errors` too.
    ///
    /// **Queues, streams and buses.** Their pollers take a response for success: a refused message would be deleted
    /// although nothing was done. So only an event that is known as a request of API Gateway (REST, HTTP), a
    /// function URL or a load balancer is answered, and every other stays an error: also a test's event that is not
    /// written as AWS writes it, a WebSocket message and a request through VPC Lattice.
    ///
    /// Where the handler calls several guarded functions, an inner one's error is answered as well. A missing key
    /// of it need not be the client's fault: an `answer` of your own can tell them apart by the function's name in it.
    ///
    /// The handler's result is written as JSON here, so it can be of any type that serialises, but no stream. An event
    /// that does not fit `A` stays an error ([`Error::UnreadableEvent`]).
    pub fn on_refused<A, Fut>(self, answer: fn(&Error) -> Option<Value>) -> AnsweringFn<F, A>
    where
        F: FnMut(LambdaEvent<A>) -> Fut,
    {
        AnsweringFn::new(self.handler, answer)
    }
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
    diagnose_as(std::any::type_name::<E>(), &*error.into())
}

/// [`diagnose`], of an error that was of the type `type_name`.
pub(crate) fn diagnose_as(type_name: &str, error: &(dyn StdError + Send + Sync + 'static)) -> Diagnostic {
    let error_message = error.to_string();
    match Error::find(error) {
        Some(ours) => {
            let reason = ours.to_string();
            let error_message = match error_message.contains(&reason) {
                true => error_message,
                false => format!("{error_message}: {reason}"),
            };
            Diagnostic { error_type: ours.error_type(), error_message }
        }
        // As `lambda_runtime` names it.
        None => Diagnostic { error_type: format!("&{type_name}"), error_message },
    }
}
