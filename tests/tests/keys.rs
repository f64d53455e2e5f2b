//! Keys and fingerprints from event to record: what support can compute, what a secret and a tenant change,
//! and what two deliveries of one event are.

use std::io;

use lambda_idempotency::{
    Engine, Error, Invocation, Key, Outcome, Raw, RunError, Secret, compute_id, decide::Deadline, idempotent,
};
use lambda_idempotency_tests::{Bench, TestResult, Work, order, sqs_event};
use lambda_runtime::{Context, LambdaEvent};
use serde_json::{Value, json};

const NAME: &str = "orders.submit";
const KEY: &str = "[order_id, version]";

async fn submit(engine: &Engine, input: &Value, work: &Work) -> Result<Outcome<usize>, RunError<io::Error>> {
    engine.run(input, |_| async { Ok(work.run()) }).await
}

#[tokio::test]
async fn support_computes_the_id_that_is_stored() -> TestResult {
    let (bench, work) = (Bench::memory(), Work::new());
    submit(&bench.engine(NAME, KEY)?, &order(), &work).await?;
    let stored = bench.memory_records();
    assert_eq!(compute_id(NAME, KEY, &order())?, stored[0].id);
    assert!(matches!(compute_id("a#b", KEY, &order()), Err(Error::Config { .. })));
    assert!(matches!(compute_id(NAME, KEY, &json!({})), Err(Error::MissingKey { .. })));
    Ok(())
}

#[tokio::test]
async fn a_secret_makes_ids_that_trying_keys_does_not_find() -> TestResult {
    let (bench, work) = (Bench::memory(), Work::new());
    let secret = || Secret::new("sixteen bytes and more");
    let engine = bench.engine(NAME, "key")?.secret(secret()?);
    submit(&engine, &json!({"key": "order-77-v3"}), &work).await?;
    let record = bench.memory_records().remove(0);
    let (stored, content_hash) = (record.id, record.validation.map(|content| content[11..].to_owned()));
    assert!(content_hash.is_some());
    for order in 0..200 {
        for version in 0..10 {
            let guess = json!({"key": format!("order-{order}-v{version}")});
            assert_ne!(compute_id(NAME, "key", &guess)?, stored);
            // The fingerprint of the whole input would tell as much.
            let content = bench.engine(NAME, "key")?.identify(&guess)?.and_then(|i| i.validation().cloned());
            assert_ne!(content.map(|c| c.as_str()[11..].to_owned()), content_hash);
        }
    }
    // The same secret finds it, in every process; another one is another set of records.
    let again = bench.engine(NAME, "key")?.secret(secret()?);
    assert!(submit(&again, &json!({"key": "order-77-v3"}), &work).await?.is_replayed());
    let other = bench.engine(NAME, "key")?.secret(Secret::new("another secret, long enough")?);
    assert!(!submit(&other, &json!({"key": "order-77-v3"}), &work).await?.is_replayed());
    Ok(())
}

#[tokio::test]
async fn two_tenants_with_one_key_are_two_pieces_of_work() -> TestResult {
    let (bench, work) = (Bench::memory(), Work::new());
    let engine = bench.engine(NAME, KEY)?;
    for (tenant, runs) in [("a", 1), ("b", 2), ("a", 2), ("b", 2)] {
        let invocation = Invocation::new(Deadline::Unset).tenant(Some(tenant.to_owned()));
        invocation.scope(submit(&engine, &order(), &work)).await?;
        assert_eq!(work.runs(), runs, "tenant {tenant}");
    }
    Ok(())
}

/// A handler on a whole SQS event with one record: the key is in its body.
#[idempotent(key = "powertools_json(Records[0].body).order_id", name = "events.handle")]
async fn handle(event: LambdaEvent<Raw<Value>>) -> Result<usize, Error> {
    Ok(event.payload["Records"].as_array().map_or(0, Vec::len))
}

async fn delivered(bench: &Bench, event: &Value) -> Result<usize, Error> {
    bench.run(handle(LambdaEvent::new(Raw::from_value(event)?, Context::default()))).await
}

#[tokio::test]
async fn a_redelivery_is_the_same_content_and_an_edited_body_is_not() -> TestResult {
    let bench = Bench::memory();
    let first = sqs_event(&[("message-1", r#"{"order_id": 77, "instruction": "15s teaser"}"#)]);
    let mut second = first.clone();
    second["Records"][0]["receiptHandle"] = json!("AQEB-another");
    second["Records"][0]["attributes"]["ApproximateReceiveCount"] = json!("2");
    assert_eq!(delivered(&bench, &first).await?, 1);
    assert_eq!(delivered(&bench, &second).await?, 1);
    assert_eq!(bench.memory_records().len(), 1);

    let edited = sqs_event(&[("message-2", r#"{"order_id": 77, "instruction": "30s teaser"}"#)]);
    assert!(matches!(delivered(&bench, &edited).await, Err(Error::PayloadMismatch { .. })));
    Ok(())
}

/// The broker's id says which message it is, not which work: the producer's second send has another one.
#[tokio::test]
async fn the_producers_second_message_is_the_same_work_unless_the_message_id_is_the_key() -> TestResult {
    #[idempotent(key = "Records[0].messageId", allow_volatile_key, name = "events.by-message")]
    async fn by_message(event: LambdaEvent<Raw<Value>>) -> Result<usize, Error> {
        Ok(event.payload["Records"].as_array().map_or(0, Vec::len))
    }
    let body = r#"{"order_id": 77, "instruction": "15s teaser"}"#;
    let (by_order, by_id) = (Bench::memory(), Bench::memory());
    for message in ["message-1", "message-2", "message-1"] {
        let event = sqs_event(&[(message, body)]);
        delivered(&by_order, &event).await?;
        by_id.run(by_message(LambdaEvent::new(Raw::from_value(&event)?, Context::default()))).await?;
    }
    assert_eq!((by_order.count().await?, by_id.count().await?), (1, 2));
    Ok(())
}

#[tokio::test]
async fn an_event_of_several_records_is_refused_before_anything_happens() -> TestResult {
    let bench = Bench::memory();
    let event = sqs_event(&[("message-1", r#"{"order_id": 77}"#), ("message-2", r#"{"order_id": 78}"#)]);
    let error = delivered(&bench, &event).await.expect_err("holds two pieces of work");
    assert!(matches!(error, Error::SeveralRecords { count: 2, .. }), "{error}");
    assert!(error.to_string().contains("batch::sqs"), "{error}");
    assert!(bench.memory_records().is_empty());
    Ok(())
}

#[tokio::test]
async fn a_payload_with_records_of_its_own_is_no_aws_event() -> TestResult {
    let bench = Bench::memory();
    let engine = bench.engine(NAME, "id")?;
    let work = Work::new();
    let input = json!({"id": 1, "Records": [{"mine": 1}, {"mine": 2}]});
    submit(&engine, &input, &work).await?;
    assert!(submit(&engine, &input, &work).await?.is_replayed());
    Ok(())
}

#[test]
fn a_key_that_is_new_at_every_delivery_is_refused() {
    for key in ["Records[0].receiptHandle", "requestContext.requestId", "Records[].messageId"] {
        let error = Key::parse(key).expect_err(key).to_string();
        assert!(error.contains('^'), "{error}");
    }
    assert!(Key::parse("messageId").is_ok());
}
