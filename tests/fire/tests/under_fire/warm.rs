//! What one process keeps from invocation to invocation: its connections to the table, and nothing of a failure.

use lambda_idempotency_tests::{TestResult, sqs_event};
use loopback::Answer;
use serde_json::Value;
use under_fire::{Seed, Stage, order};

use crate::{LONG, acknowledged, message, orders_binary};

async fn batch(stage: &Stage, ids: &[u64]) -> Answer {
    let orders: Vec<(String, String)> =
        ids.iter().map(|id| (format!("m-{id}"), order(*id).to_string())).collect();
    let messages: Vec<(&str, &str)> = orders.iter().map(|(id, body)| (id.as_str(), body.as_str())).collect();
    stage.lambda.invoke(sqs_event(&messages).to_string(), LONG).result().await
}

async fn all_fail(stage: &Stage, ids: &[u64]) -> Answer {
    ids.iter().for_each(|_| stage.provider.fail_next(503));
    batch(stage, ids).await
}

#[tokio::test]
async fn a_batch_that_fails_is_answered_alike_by_a_warm_and_a_fresh_process() -> TestResult {
    let warm = Stage::start(orders_binary().await?, "orders.submit", 1, Seed::new()).await?;
    let fresh = Stage::start(orders_binary().await?, "orders.submit", 1, Seed::new()).await?;
    let worker = warm.lambda.workers();
    let done = batch(&warm, &[1, 2, 3]).await;
    assert_eq!(done, Answer::Response(r#"{"batchItemFailures":[]}"#.into()));

    let failed = all_fail(&warm, &[4, 5, 6]).await;
    assert_eq!(failed, all_fail(&fresh, &[4, 5, 6]).await);
    let Answer::Response(text) = &failed else { panic!("{failed:?}") };
    let ids: Value = serde_json::from_str::<Value>(text)?["batchItemFailures"].clone();
    assert_eq!(ids.as_array().map(Vec::len), Some(3), "{ids}");

    // The next delivery to the same process is a real one, and nothing of the failure is left.
    assert_eq!(batch(&warm, &[4, 5, 6]).await, done);
    assert_eq!([4, 5, 6].map(|id| warm.calls(&order(id))), [2, 2, 2]);
    assert_eq!(batch(&warm, &[1, 4]).await, done);
    assert_eq!(warm.lambda.workers(), worker, "one process did all of it");
    warm.stop().await;
    fresh.stop().await;
    Ok(())
}

/// The client is made once, and its connections are used again.
#[tokio::test]
async fn a_hundred_invocations_of_one_process_do_not_make_a_connection_each() -> TestResult {
    let stage = Stage::start(orders_binary().await?, "orders.submit", 1, Seed::new()).await?;
    for delivery in 0..100 {
        let order = order(delivery % 20 + 1);
        assert!(acknowledged(stage.lambda.invoke(message(&order), LONG)).await, "{delivery}");
    }
    assert_eq!(stage.provider.calls().len(), 20);
    // One, and another where a request is sent before the reply to the last one has gone back to the pool.
    assert!((1..=3).contains(&stage.chaos.tally().connections), "{:?}", stage.chaos.tally());
    stage.stop().await;
    Ok(())
}
