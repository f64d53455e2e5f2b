//! This library's errors as responses, where the caller is an HTTP client.

use std::error::Error as StdError;

use lambda_idempotency_core::key::source::{Source, recognise};
use lambda_runtime::Diagnostic;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::proxy::for_load_balancer;
use crate::service_fn::{diagnose, diagnose_as};
use crate::{Attempt, Error, JsonFault, Observation};

/// The response to an error of this library; `None` leaves it an error.
pub(crate) type OnRefused = fn(&Error) -> Option<Value>;

/// How an invocation ends that `error` has ended: with the response that `on_refused` makes of it, if it is or holds
/// an error of this library and `event` is an HTTP request, and else as a failure.
///
/// Of an HTTP request and of nothing else: whoever polls a queue or a stream takes a response for success and deletes
/// the messages. So an event that is not recognised is no request, since there are more such sources than are
/// recognised (Kafka, MQ).
///
/// Nor within a guarded call: it would record the response as its answer for everybody.
///
/// `E` is the type that the error had.
pub(crate) fn ended<E>(
    on_refused: Option<OnRefused>,
    error: Box<dyn StdError + Send + Sync>,
    event: &RawValue,
) -> Result<Box<RawValue>, Diagnostic> {
    let on_refused = on_refused.filter(|_| Attempt::current().is_none());
    let response =
        on_refused.zip(Error::find(&*error)).and_then(|(answer, ours)| response(answer, ours, event.get()));
    response.ok_or_else(|| diagnose_as(std::any::type_name::<E>(), &*error))
}

/// Says that a refusal cannot be answered, because the handler's error hides it: it would be a 502 without a reason.
pub(crate) fn warn_if_hidden(call: &Observation) {
    let is_refusal = !matches!(
        call.outcome,
        "Executed"
            | "Replayed"
            | "Unprotected"
            | "Skipped"
            | "FunctionFailed"
            | "FailureReplayed"
            | "Panicked"
            | "Dropped"
    );
    if is_refusal {
        tracing::warn!(
            target: "lambda_idempotency",
            function = call.function,
            refusal = call.outcome,
            "the call was refused, but `on_refused` cannot see it: the handler's error does not have it among its \
             sources, as a bare `anyhow::Error` and `#[error(transparent)]` have not; add `.context(…)` to it, or a \
             variant with `#[from]` and a text of its own"
        );
    }
}

fn response(answer: OnRefused, error: &Error, event: &str) -> Option<Box<RawValue>> {
    // Asked only of those: what is no answer need not be made.
    let source = recognise(event).ok().flatten()?;
    let is_request = match source {
        Source::ApiGatewayV1 | Source::ApiGatewayV2 | Source::FunctionUrl | Source::Alb => true,
        // Also of a source that is added one day.
        _ => false,
    };
    let mut response = is_request.then(|| answer(error)).flatten()?;
    if source == Source::Alb {
        for_load_balancer(&mut response, &serde_json::from_str(event).unwrap_or_default());
    }
    to_raw_value(&response).ok()
}

/// The error of an event that does not fit the handler's type `A`. It is never answered: what surrounds a request was
/// written by AWS, so that function and trigger do not go together, and only a failed invocation says so.
pub(crate) fn unreadable<A>(error: &serde_json::Error) -> Diagnostic {
    diagnose(Error::UnreadableEvent {
        expected: std::any::type_name::<A>().to_owned(),
        reason: JsonFault::from(error),
    })
}
