//! SQS batches: which records are run, which are reported, and what a failure does to the others.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use aws_lambda_events::sqs::SqsEvent;
use lambda_idempotency::batch::{self, Record};
use lambda_idempotency::store::Status;
use lambda_idempotency::{Clock, Error, Policy, ResultMode, idempotent};
use lambda_idempotency_tests::{Bench, NOW, TestResult, Work};
use lambda_runtime::{Context, LambdaEvent};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Job {
    id: u32,
    #[serde(default)]
    end: End,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum End {
    #[default]
    Ok,
    Fails,
    Panics,
}

/// One message: its number is its id, its group and how its work ends.
fn message(number: u32, group: &str, end: &str) -> Value {
    json!({
        "messageId": format!("m{number}"),
        "receiptHandle": "AQEB",
        "body": json!({"id": number, "end": end}).to_string(),
        "attributes": {"ApproximateReceiveCount": "3", "MessageGroupId": group},
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:jobs",
        "awsRegion": "us-east-1",
    })
}

fn event(messages: Vec<Value>, deadline: u64) -> Result<LambdaEvent<SqsEvent>, serde_json::Error> {
    let mut context = Context::default();
    context.deadline = deadline;
    Ok(LambdaEvent::new(serde_json::from_value(json!({"Records": messages}))?, context))
}

fn fifo(mut messages: Vec<Value>) -> Vec<Value> {
    for message in &mut messages {
        message["eventSourceARN"] = json!("arn:aws:sqs:us-east-1:000000000000:jobs.fifo");
    }
    messages
}

/// The ids that were run, and those that were reported.
async fn deliver(event: LambdaEvent<SqsEvent>) -> Result<(Vec<u32>, Vec<String>), batch::BatchError> {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let response = batch::sqs(event, |job: Record<Job>| {
        let ran = Arc::clone(&ran);
        async move {
            ran.lock().expect("not poisoned").push(job.id);
            match job.end {
                End::Ok => Ok(()),
                End::Fails => Err("declined"),
                End::Panics => panic!("the work panics"),
            }
        }
    })
    .await?;
    let failed = response.batch_item_failures.into_iter().map(|failure| failure.item_identifier).collect();
    let ran = ran.lock().expect("not poisoned").clone();
    Ok((ran, failed))
}

#[tokio::test]
async fn a_failure_and_a_panic_are_reported_alone() -> TestResult {
    let messages =
        vec![message(1, "", "ok"), message(2, "", "fails"), message(3, "", "panics"), message(4, "", "ok")];
    let (ran, failed) = deliver(event(messages, 0)?).await?;
    assert_eq!(ran, [1, 2, 3, 4]);
    assert_eq!(failed, ["m2", "m3"]);
    Ok(())
}

#[tokio::test]
async fn of_a_fifo_queue_a_group_stops_at_its_first_failure() -> TestResult {
    let messages = vec![
        message(1, "g1", "ok"),
        message(2, "g1", "fails"),
        message(3, "g2", "ok"),
        message(4, "g1", "ok"),
        message(5, "g2", "ok"),
    ];
    let (ran, failed) = deliver(event(fifo(messages.clone()), 0)?).await?;
    assert_eq!(ran, [1, 2, 3, 5]);
    assert_eq!(failed, ["m2", "m4"]);
    // Nothing of it is remembered: the next delivery runs the group again.
    let again = vec![message(2, "g1", "ok"), message(4, "g1", "ok")];
    assert_eq!(deliver(event(fifo(again), 0)?).await?, (vec![2, 4], vec![]));
    // A standard queue has no order to keep.
    let (ran, failed) = deliver(event(messages, 0)?).await?;
    assert_eq!((ran, failed), (vec![1, 2, 3, 4, 5], vec!["m2".to_owned()]));
    Ok(())
}

#[idempotent(key = "id", input = job, name = "jobs.ordered")]
async fn ordered(job: Record<Job>) -> Result<u32, Error> {
    if job.id == 1 {
        // Still at work when the next delivery comes.
        std::future::pending::<()>().await;
    }
    Ok(job.id)
}

/// A queue that hides a message for less time than the work takes delivers it again and again meanwhile.
#[tokio::test]
async fn a_message_that_comes_back_while_it_is_worked_on_is_acknowledged_when_that_is_done() -> TestResult {
    let (bench, work) = (Bench::memory(), Work::new());
    let submit = |job: Record<Job>| {
        let (engine, work) = (bench.engine("jobs.long", "id"), work.clone());
        async move { engine?.run(&job, |_| async { Ok::<_, Error>(work.run_held().await) }).await }
    };
    let delivery =
        || event(vec![message(1, "", "ok")], u64::try_from(NOW.get()).unwrap_or_default() + 30_000);
    let mut at_work = Box::pin(bench.run(batch::sqs(delivery()?, submit)));
    assert!(futures_util::poll!(&mut at_work).is_pending());
    for _ in 0..2 {
        bench.clock.advance(Duration::from_secs(5));
        let busy = bench.run(batch::sqs(delivery()?, submit)).await?;
        assert_eq!(busy.batch_item_failures.len(), 1);
    }
    bench.clock.advance(Duration::from_secs(2));
    work.go_on();
    assert!(at_work.await?.batch_item_failures.is_empty());

    bench.clock.advance(Duration::from_secs(3));
    let replayed = bench.run(batch::sqs(delivery()?, submit)).await?;
    assert!(replayed.batch_item_failures.is_empty());
    assert_eq!(work.runs(), 1);
    Ok(())
}

/// Every way in which a record is not done stops its group, and no other.
#[tokio::test]
async fn of_a_fifo_queue_a_group_waits_for_a_record_that_is_busy_unreadable_or_panics() -> TestResult {
    let bench = Bench::memory();
    let first = event(fifo(vec![message(1, "g1", "ok")]), 0)?;
    let mut at_work = Box::pin(bench.run(batch::sqs(first, ordered)));
    assert!(futures_util::poll!(&mut at_work).is_pending());
    let of_two_groups = || {
        vec![message(1, "g1", "ok"), message(2, "g1", "ok"), message(3, "g2", "ok"), message(4, "g1", "ok")]
    };
    let response = bench.run(batch::sqs(event(fifo(of_two_groups()), 0)?, ordered)).await?;
    let failed: Vec<_> = response.batch_item_failures.iter().map(|one| &*one.item_identifier).collect();
    assert_eq!(failed, ["m1", "m2", "m4"], "the first one is busy");

    let mut unreadable = of_two_groups();
    unreadable[0]["body"] = json!("{");
    assert_eq!(deliver(event(fifo(unreadable), 0)?).await?.0, [3]);
    let mut panicking = of_two_groups();
    panicking[0] = message(1, "g1", "panics");
    assert_eq!(deliver(event(fifo(panicking), 0)?).await?.0, [1, 3]);
    Ok(())
}

#[tokio::test]
async fn a_record_that_cannot_end_in_time_is_not_started() -> TestResult {
    let bench = Bench::memory();
    let deadline = u64::try_from(NOW.plus(Duration::from_millis(200)).get())?;
    let messages = vec![message(1, "", "ok"), message(2, "", "ok")];
    let (ran, failed) = bench.run(deliver(event(messages.clone(), deadline)?)).await?;
    assert_eq!((ran, failed), (vec![], vec!["m1".to_owned(), "m2".to_owned()]));
    let deadline = u64::try_from(NOW.plus(Duration::from_secs(1)).get())?;
    let (ran, failed) = bench.run(deliver(event(messages, deadline)?)).await?;
    assert_eq!((ran, failed), (vec![1, 2], vec![]));
    assert_eq!(bench.clock.now(), NOW);
    Ok(())
}

/// The records of one batch share one deadline, however late a record's turn comes.
#[tokio::test]
async fn each_records_lease_ends_with_the_invocation() -> TestResult {
    let bench = Bench::memory();
    let deadline = NOW.plus(Duration::from_secs(5));
    let messages = vec![message(1, "", "ok"), message(2, "", "ok"), message(3, "", "ok")];
    let leases = Mutex::new(Vec::new());
    let submit = |job: Record<Job>| {
        let (bench, leases) = (&bench, &leases);
        async move {
            let work = |_| async {
                let mut records = bench.memory_records();
                records.retain(|record| record.status == Status::InProgress);
                leases.lock().expect("not poisoned").extend(records.iter().map(|record| record.lease_end));
                bench.clock.advance(Duration::from_secs(1));
                Ok::<_, Error>(())
            };
            bench.engine("jobs", "id")?.run(&job, work).await
        }
    };
    let batch = event(messages, u64::try_from(deadline.get())?)?;
    assert!(bench.run(batch::sqs(batch, submit)).await?.batch_item_failures.is_empty());
    assert_eq!(*leases.lock().expect("not poisoned"), [Some(deadline); 3]);
    Ok(())
}

static MARKER: Policy = Policy::new().result_mode(ResultMode::MarkerOnly);

#[idempotent(key = "id", input = job, name = "jobs.marked", policy = &MARKER)]
async fn marked(job: Record<Job>) -> Result<u32, Error> {
    Ok(job.id)
}

#[tokio::test]
async fn work_that_is_done_without_a_stored_result_is_acknowledged() -> TestResult {
    let bench = Bench::memory();
    for _ in 0..3 {
        let response = bench.run(batch::sqs(event(vec![message(1, "", "ok")], 0)?, marked)).await?;
        assert!(response.batch_item_failures.is_empty());
    }
    Ok(())
}

#[tokio::test]
async fn a_record_brings_its_attributes() -> TestResult {
    let response = batch::sqs(event(vec![message(1, "g", "ok")], 0)?, |job: Record<Job>| async move {
        let seen =
            (job.message_id().to_owned(), job.receive_count(), job.attribute("MessageGroupId").is_some());
        if seen == ("m1".to_owned(), Some(3), true) { Ok(()) } else { Err(format!("{seen:?}")) }
    })
    .await?;
    assert!(response.batch_item_failures.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_batch_that_cannot_be_answered_record_by_record_runs_nothing() -> TestResult {
    let mut messages = vec![message(1, "", "ok"), message(2, "", "ok")];
    messages[1]["messageId"] = Value::Null;
    let error = deliver(event(messages, 0)?).await.expect_err("cannot be answered");
    assert!(error.to_string().contains("record 1"), "{error}");
    Ok(())
}
