//! The result and the function's own writes in one transaction: both or neither, whatever breaks.

use std::io;
use std::time::Duration;

use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue, TransactWriteItem, Update};
use lambda_idempotency::dynamodb::{AttributeNames, Writes};
use lambda_idempotency::{
    Attempt, DynamoDbStore, Engine, Error, Key, MemoryStore, Outcome, Policy, RunError,
};
use lambda_idempotency_tests::{Bench, NOW, ORDER_KEY, TABLE, TestResult, client, crashes, order};
use loopback::Fault;
use serde_json::json;

const NAME: &str = "orders.submit";

type Answer = Result<Outcome<String>, RunError<io::Error>>;

/// Counts one more submission of order 77 in the idempotency table's neighbour row, if it is not closed: a
/// write that shows when it is applied twice.
fn submission() -> Result<Writes, Box<dyn std::error::Error + Send + Sync>> {
    let update = Update::builder()
        .table_name(TABLE)
        .key("id", AttributeValue::S("order-77".into()))
        .update_expression("ADD submissions :one")
        .condition_expression("attribute_not_exists(closed)")
        .expression_attribute_values(":one", AttributeValue::N("1".into()))
        .build()?;
    Ok(Writes::new([TransactWriteItem::builder().update(update).build()])?)
}

async fn submit(engine: &Engine, run_id: &str) -> Answer {
    engine
        .run(&order(), |attempt: Attempt| async move {
            let writes = submission().map_err(|error| io::Error::other(error.to_string()))?;
            attempt.commit_with(writes).map_err(io::Error::other)?;
            Ok(run_id.to_owned())
        })
        .await
}

/// How often the submission was applied.
async fn submissions(bench: &Bench) -> Result<usize, Box<dyn std::error::Error + Send + Sync>> {
    let table = client(&bench.proxy().endpoint());
    let row =
        table.get_item().table_name(TABLE).key("id", AttributeValue::S("order-77".into())).send().await?;
    let count =
        row.item().and_then(|row| row.get("submissions")).and_then(|count| count.as_n().ok().cloned());
    bench.proxy().clear();
    Ok(count.map_or(Ok(0), |count| count.parse())?)
}

fn refusal(answer: Answer) -> Error {
    match answer {
        Err(RunError::Idempotency(error)) => error,
        other => panic!("must be refused, but: {other:?}"),
    }
}

#[tokio::test]
async fn result_and_writes_are_one_request() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let engine = bench.engine(NAME, ORDER_KEY)?;
    assert_eq!(submit(&engine, "run-1").await?, Outcome::Executed("run-1".into()));
    assert_eq!(bench.proxy().operations(), ["PutItem", "TransactWriteItems"]);
    assert_eq!(submissions(&bench).await?, 1);
    assert_eq!(submit(&engine, "run-2").await?.into_value().as_deref(), Some("run-1"));
    assert_eq!(submissions(&bench).await?, 1);
    Ok(())
}

/// As without a transaction: under reserved words, and with a life that begins at the completion.
#[tokio::test]
async fn a_commit_writes_the_record_that_a_completion_would() -> TestResult {
    let mut names = AttributeNames::default();
    names.expiration = "ttl".into();
    names.in_progress_expiration = "timestamp".into();
    names.owner = "user".into();
    names.stored_at = "date".into();
    let bench = Bench::dynamodb_with(|store| store.attribute_names(names).expect("names"), &["id"]).await?;
    let engine =
        bench.engine(NAME, ORDER_KEY)?.policy(Policy::new().expires_after(Duration::from_secs(10)))?;
    let mut records = Vec::new();
    for with_writes in [false, true] {
        let input = json!({"order_id": i32::from(with_writes), "version": 1});
        let (bench, engine) = (&bench, &engine);
        let id = engine.identify(&input)?.ok_or("no key")?.id().to_string();
        let work = |attempt: Attempt| async move {
            bench.clock.advance(Duration::from_secs(4));
            if with_writes {
                let writes = submission().map_err(|error| io::Error::other(error.to_string()))?;
                attempt.commit_with(writes).map_err(io::Error::other)?;
            }
            Ok::<_, io::Error>("run-1".to_owned())
        };
        bench.clock.set(NOW);
        engine.run(&input, work).await?;
        let items = bench.dynamo().items(TABLE).await?;
        let id = AttributeValue::S(id);
        let mut item = items.into_iter().find(|item| item["id"] == id).ok_or("no record")?;
        item.retain(|name, _| !["id", "user", "validation"].contains(&&**name));
        records.push(item);
    }
    assert_eq!(records[0]["ttl"], AttributeValue::N("1900000015".into()), "{:?}", records[0]);
    assert_eq!(records[0], records[1]);
    assert_eq!(submissions(&bench).await?, 1);
    Ok(())
}

#[tokio::test]
async fn a_function_that_fails_writes_nothing() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let engine = bench.engine(NAME, ORDER_KEY)?;
    let failed: Answer = engine
        .run(&order(), |attempt| async move {
            let writes = submission().map_err(|error| io::Error::other(error.to_string()))?;
            attempt.commit_with(writes).map_err(io::Error::other)?;
            Err(io::Error::other("declined"))
        })
        .await;
    assert!(matches!(failed, Err(RunError::Function(_))));
    assert_eq!(submissions(&bench).await?, 0);
    assert_eq!(bench.count().await?, 0);
    Ok(())
}

#[tokio::test]
async fn a_write_whose_condition_does_not_hold_refuses_both_and_the_next_attempt_is_real() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let engine = bench.engine(NAME, ORDER_KEY)?;
    let table = client(&bench.proxy().endpoint());
    let row = |closed: bool| {
        let mut put = table.put_item().table_name(TABLE).item("id", AttributeValue::S("order-77".into()));
        if closed {
            put = put.item("closed", AttributeValue::Bool(true));
        }
        put.return_values(ReturnValue::None).send()
    };
    row(true).await?;
    let error = refusal(submit(&engine, "run-1").await);
    let Error::TransactionRefused { reasons, .. } = &error else { panic!("{error}") };
    assert_eq!(reasons.len(), 1);
    assert_eq!((reasons[0].index, reasons[0].code.as_str()), (0, "ConditionalCheckFailed"));
    assert!(error.to_string().contains("write 0"), "{error}");
    assert_eq!(submissions(&bench).await?, 0);

    row(false).await?;
    assert_eq!(submit(&engine, "run-2").await?, Outcome::Executed("run-2".into()));
    assert_eq!(submissions(&bench).await?, 1);
    Ok(())
}

#[tokio::test]
async fn a_commit_whose_reply_was_lost_is_applied_once() -> TestResult {
    for times in [1, 2] {
        let bench = Bench::dynamodb().await?;
        let engine = bench.engine(NAME, ORDER_KEY)?;
        bench.proxy().fault_times("TransactWriteItems", times, Fault::DropReplyAfterApply);
        assert_eq!(submit(&engine, "run-1").await?, Outcome::Executed("run-1".into()));
        let log = bench.proxy().log();
        let commits: Vec<_> = log.iter().filter(|call| call.operation == "TransactWriteItems").collect();
        assert_eq!(commits.len(), times + 1);
        assert!(commits.iter().all(|commit| commit.body == commits[0].body), "a resend is another request");
        assert_eq!(submissions(&bench).await?, 1);
    }
    Ok(())
}

/// The token of the transaction is remembered for ten minutes; the condition holds for ever.
#[tokio::test]
async fn a_commit_that_was_applied_is_recognised_by_the_record_too() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let engine = bench.engine(NAME, ORDER_KEY)?;
    bench.proxy().fault_next("TransactWriteItems", Fault::DropReplyAfterApply);
    // What DynamoDB answers to the resend when it has forgotten the token: the record is final already.
    let cancelled = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "Transaction cancelled",
        "CancellationReasons": [{"Code": "ConditionalCheckFailed"}, {"Code": "None"}],
    });
    bench.proxy().fault_next("TransactWriteItems", Fault::Respond { status: 400, body: cancelled });
    assert_eq!(submit(&engine, "run-1").await?, Outcome::Executed("run-1".into()));
    assert_eq!(
        bench.proxy().operations(),
        ["PutItem", "TransactWriteItems", "TransactWriteItems", "GetItem"]
    );
    assert_eq!(submissions(&bench).await?, 1);
    Ok(())
}

#[tokio::test]
async fn a_conflict_and_a_lost_request_are_tried_again() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let engine = bench.engine(NAME, ORDER_KEY)?;
    let conflict = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "Transaction cancelled",
        "CancellationReasons": [{"Code": "None"}, {"Code": "TransactionConflict"}],
    });
    bench.proxy().fault_next("TransactWriteItems", Fault::Respond { status: 400, body: conflict });
    bench.proxy().fault_next("TransactWriteItems", Fault::DropBefore);
    assert_eq!(submit(&engine, "run-1").await?, Outcome::Executed("run-1".into()));
    assert_eq!(submissions(&bench).await?, 1);
    Ok(())
}

#[tokio::test]
async fn a_stale_holders_transaction_is_cancelled() -> TestResult {
    for successor_has_finished in [false, true] {
        let (bench, successor_has_finished) = (&Bench::dynamodb().await?, &successor_has_finished);
        let engine = bench.engine(NAME, ORDER_KEY)?;
        let answer: Answer = engine
            .run(&order(), |attempt| async move {
                let writes = submission().map_err(|error| io::Error::other(error.to_string()))?;
                attempt.commit_with(writes).map_err(io::Error::other)?;
                // This process was frozen past its lease, and another attempt took over.
                bench.clock.advance(Duration::from_secs(903));
                let other = bench.engine(NAME, ORDER_KEY).map_err(io::Error::other)?;
                if *successor_has_finished {
                    submit(&other, "run-of-the-successor").await.map_err(io::Error::other)?;
                } else {
                    let (tell, told) = tokio::sync::oneshot::channel();
                    let input = order();
                    let work = other.run(&input, |_| async {
                        let _ = tell.send(());
                        std::future::pending::<Result<String, io::Error>>().await
                    });
                    // Dropped in the middle of its work: its claim stays.
                    tokio::select! {
                        ended = work => panic!("{ended:?}"),
                        started = told => started.map_err(io::Error::other)?,
                    }
                }
                Ok("late".to_owned())
            })
            .await;
        if *successor_has_finished {
            assert_eq!(answer?.into_value().as_deref(), Some("run-of-the-successor"));
            assert_eq!(submissions(bench).await?, 1, "only the successor's write is applied");
        } else {
            assert_eq!(refusal(answer).name(), "LeaseLost");
            assert_eq!(submissions(bench).await?, 0);
        }
    }
    Ok(())
}

#[tokio::test]
async fn writes_go_nowhere_without_a_transaction() -> TestResult {
    // A store that has none refuses both.
    let engine = Engine::new(NAME, MemoryStore::new(), Key::parse(ORDER_KEY)?)?;
    assert_eq!(refusal(submit(&engine, "run-1").await).name(), "NotRecorded");
    // Two sets of writes cannot both be the transaction.
    let bench = Bench::dynamodb().await?;
    let engine = bench.engine(NAME, ORDER_KEY)?;
    let input = order();
    let twice = engine.run(&input, |attempt| async move {
        let writes = || submission().map_err(|error| io::Error::other(error.to_string()));
        attempt.commit_with(writes()?).map_err(io::Error::other)?;
        assert!(matches!(attempt.commit_with(writes()?), Err(Error::Config { .. })));
        Ok::<_, io::Error>(String::new())
    });
    twice.await?;
    assert_eq!(submissions(&bench).await?, 1);
    Ok(())
}

#[tokio::test]
async fn a_crash_at_each_point_leaves_both_or_neither() -> TestResult {
    let dynamo = loopback::DynamoDb::start().await?;
    dynamo.create_table(TABLE).await?;
    crashes::a_crash_at_each_point_leaves_both_or_neither(dynamo.endpoint(), TABLE).await
}

#[tokio::test]
async fn the_right_that_is_missing_is_named() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let client = loopback::dynamo::client_for(&bench.proxy().endpoint());
    let engine = Engine::new(NAME, DynamoDbStore::new(client, TABLE), Key::parse(ORDER_KEY)?)?;
    bench.proxy().fault_always("TransactWriteItems", Fault::error("AccessDeniedException", "not authorised"));
    let error = refusal(submit(&engine, "run-1").await);
    assert_eq!(error.name(), "NotRecorded");
    assert!(error.to_string().contains("dynamodb:UpdateItem"), "{error}");
    Ok(())
}
