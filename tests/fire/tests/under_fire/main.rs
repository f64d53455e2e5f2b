//! Dying and frozen processes, broken connections, a store that is away, many invocations at once.
//!
//! Every test is bounded in time. Those with chance in them print `UNDER_FIRE_SEED`.

mod concurrent_invocations;
mod crashes;
mod outside_lambda;
mod races;
mod soak;
mod store_away;
mod storm;
mod switch;
mod waits;
mod warm;
mod zombies;

use std::path::PathBuf;
use std::time::Duration;

use lambda_idempotency_tests::sqs_event;
use loopback::{Answer, DeadlineHeader, Error, Event, Invocation, build};
use serde_json::Value;
use under_fire::Stage;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

/// The worker of the example.
async fn orders_binary() -> Result<PathBuf, Error> {
    build::orders_binary(&[]).await
}

/// The worker that answers what it saw.
fn courier_binary() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_courier"))
}

/// An SQS event with one order, whose message has the order's number.
fn message(order: &Value) -> String {
    sqs_event(&[(&format!("m-{}", order["order_id"]), &order.to_string())]).to_string()
}

/// How many messages an answer gives back to the queue; `None` when it is no answer.
fn returned(answer: &Answer) -> Option<usize> {
    let Answer::Response(text) = answer else { return None };
    let response: Value = serde_json::from_str(text).ok()?;
    response["batchItemFailures"].as_array().map(Vec::len)
}

/// Whether all messages were done.
async fn acknowledged(invocation: Invocation) -> bool {
    returned(&invocation.result().await) == Some(0)
}

/// Delivers with a deadline that nobody enforces: a worker that is frozen can outlive it.
fn deliver_unenforced(stage: &Stage, payload: String, deadline: Duration) -> Invocation {
    stage.lambda.send(Event { deadline: DeadlineHeader::In(deadline), ..Event::new(payload, LONG) })
}
