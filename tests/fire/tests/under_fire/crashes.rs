//! Panics, aborts and dropped futures in a real worker.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use lambda_idempotency_tests::TestResult;
use loopback::{Answer, Invocation, build};
use serde_json::{Value, json};
use under_fire::{Seed, Stage, order};

use crate::{LONG, courier_binary, deliver_unenforced};

const LEASE: Duration = Duration::from_secs(2);
const SIGABRT: i32 = 6;

async fn stage() -> Result<Stage, Box<dyn std::error::Error + Send + Sync>> {
    Stage::start(courier_binary(), "courier", 1, Seed::new()).await
}

fn then(order: &Value, then: &str) -> String {
    let mut event = order.clone();
    event["then"] = json!(then);
    event.to_string()
}

/// The type of the error that an invocation ended with.
async fn error(invocation: Invocation) -> String {
    match invocation.result().await {
        Answer::FunctionError { error_type, error_message } => format!("{error_type}: {error_message}"),
        other => format!("{other:?}"),
    }
}

async fn run_id(invocation: Invocation) -> String {
    match invocation.result().await {
        Answer::Response(text) => {
            let reply: Value = serde_json::from_str(&text).unwrap_or_default();
            reply["answer"]["run_id"].as_str().unwrap_or_default().to_owned()
        }
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn a_panic_gives_the_key_back_and_the_process_goes_on() -> TestResult {
    let stage = stage().await?;
    let worker = stage.lambda.workers();
    let order = order(77);
    let panicked = error(stage.lambda.invoke(then(&order, "panic"), LONG)).await;
    assert!(panicked.contains("as the event says") && !panicked.starts_with("Idempotency"), "{panicked}");
    assert_eq!(run_id(stage.lambda.invoke(order.to_string(), LONG)).await, "run-2");
    assert_eq!(run_id(stage.lambda.invoke(then(&order, "panic"), LONG)).await, "run-2");
    let log = stage.log(&order)?;
    assert_eq!((log.outcomes("Panicked"), log.outcomes("Executed"), log.outcomes("Replayed")), (1, 1, 1));
    assert_eq!(stage.lambda.workers(), worker, "one process did all of it");
    stage.stop().await;
    Ok(())
}

#[tokio::test]
async fn a_panic_after_the_effect_keeps_the_claim_until_the_lease_has_passed() -> TestResult {
    let stage = stage().await?;
    let worker = stage.lambda.workers();
    let order = order(77);
    let event = then(&order, "panic after the effect");
    let panicked = error(deliver_unenforced(&stage, event, LEASE)).await;
    assert!(panicked.contains("as the event says"), "{panicked}");
    let busy = error(stage.lambda.invoke(order.to_string(), LONG)).await;
    assert!(busy.starts_with("IdempotencyAlreadyInProgress"), "{busy}");
    stage.lease_has_passed(&order).await?;
    assert_eq!(run_id(stage.lambda.invoke(order.to_string(), LONG)).await, "run-2");
    assert_eq!(stage.log(&order)?.takeovers(), 1);
    assert_eq!(stage.lambda.workers(), worker);
    stage.stop().await;
    Ok(())
}

/// With `panic = "abort"`, and when the process aborts itself, nothing is caught: only the lease is left.
async fn an_abort_leaves_the_claim_to_the_lease(stage: Stage, how: &str) -> TestResult {
    let worker = stage.lambda.workers();
    let order = order(77);
    let aborted = deliver_unenforced(&stage, then(&order, how), LEASE).result().await;
    assert!(matches!(aborted, Answer::Exited(status) if status.signal() == Some(SIGABRT)), "{aborted:?}");
    let busy = error(stage.lambda.invoke(order.to_string(), LONG)).await;
    assert!(busy.starts_with("IdempotencyAlreadyInProgress"), "{busy}");
    assert_ne!(stage.lambda.workers(), worker, "a new process");
    stage.lease_has_passed(&order).await?;
    assert_eq!(run_id(stage.lambda.invoke(order.to_string(), LONG)).await, "run-2");
    let log = stage.log(&order)?;
    assert_eq!((stage.calls(&order), log.takeovers(), log.outcomes("Panicked")), (2, 1, 0));
    stage.stop().await;
    Ok(())
}

#[tokio::test]
async fn a_panic_in_a_binary_that_aborts_leaves_the_claim_to_the_lease() -> TestResult {
    let abrupt = build::binary_with_rustc_args("under-fire", "abrupt", &["-C", "panic=abort"]).await?;
    let stage = Stage::start(abrupt, "courier", 1, Seed::new()).await?;
    an_abort_leaves_the_claim_to_the_lease(stage, "panic").await
}

#[tokio::test]
async fn a_process_that_aborts_leaves_the_claim_to_the_lease() -> TestResult {
    an_abort_leaves_the_claim_to_the_lease(stage().await?, "abort").await
}

#[tokio::test]
async fn a_future_that_is_dropped_by_a_timeout_leaves_the_claim_to_the_lease() -> TestResult {
    let stage = stage().await?;
    let worker = stage.lambda.workers();
    let order = order(77);
    let given_up = error(deliver_unenforced(&stage, then(&order, "stand still"), LEASE)).await;
    assert!(given_up.ends_with("given up"), "{given_up}");
    let busy = error(stage.lambda.invoke(order.to_string(), LONG)).await;
    assert!(busy.starts_with("IdempotencyAlreadyInProgress"), "{busy}");
    stage.lease_has_passed(&order).await?;
    assert_eq!(run_id(stage.lambda.invoke(order.to_string(), LONG)).await, "run-2");
    assert_eq!((stage.calls(&order), stage.log(&order)?.takeovers()), (2, 1));
    assert_eq!(stage.lambda.workers(), worker);
    stage.stop().await;
    Ok(())
}
