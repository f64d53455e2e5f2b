//! A table that cannot be reached, or whose connections have died, as a deployed function meets it.

use std::time::Duration;

use lambda_idempotency_tests::TestResult;
use loopback::Answer;
use under_fire::{Seed, Stage, order};

use crate::{LONG, acknowledged, courier_binary, message, orders_binary};

/// What a freeze between two invocations does to a pool of connections.
#[tokio::test]
async fn connections_that_died_between_two_invocations_cost_nothing() -> TestResult {
    let stage = Stage::start(orders_binary().await?, "orders.submit", 1, Seed::new()).await?;
    for id in 1..=10 {
        assert!(acknowledged(stage.lambda.invoke(message(&order(id)), LONG)).await, "order {id}");
        stage.chaos.end_connections();
    }
    assert!(stage.chaos.tally().refused >= 9, "{:?}", stage.chaos.tally());
    assert_eq!(stage.provider.calls().len(), 10);
    stage.stop().await;
    Ok(())
}

/// The error is there before the platform stops the worker: it is reported, and the process goes on.
#[tokio::test]
async fn a_table_that_never_answers_is_an_error_before_the_deadline() -> TestResult {
    let stage = Stage::start(courier_binary(), "courier", 1, Seed::new()).await?;
    let worker = stage.lambda.workers();
    stage.chaos.swallow_all(true);
    let answer = stage.lambda.invoke(order(77).to_string(), Duration::from_secs(3)).result().await;
    let Answer::FunctionError { error_type, .. } = &answer else { panic!("{answer:?}") };
    assert_eq!(error_type, "IdempotencyStore");
    assert_eq!(stage.provider.calls().len(), 0);

    // The same at the completion: what was done is carried by the error, not lost with the process.
    stage.chaos.swallow_all(false);
    let held = stage.provider.hold_for("78", 1);
    let invocation = stage.lambda.invoke(order(78).to_string(), Duration::from_secs(4));
    held.arrived().await?;
    stage.chaos.swallow_all(true);
    held.answer();
    let answer = invocation.result().await;
    let Answer::FunctionError { error_type, .. } = &answer else { panic!("{answer:?}") };
    assert_eq!(error_type, "IdempotencyNotRecorded");
    assert_eq!(stage.lambda.workers(), worker, "it was not killed");
    stage.stop().await;
    Ok(())
}
