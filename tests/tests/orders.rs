//! The orders example as it is deployed: its own binary, in worker processes that can die.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::types::AttributeValue;
use lambda_idempotency_tests::{TABLE, TestResult, sqs_event};
use loopback::{Answer, DeadlineHeader, DynamoDb, Error, Invocation, Lambda, LambdaOptions, Provider, build};
use serde_json::{Value, json};

const LONG: Duration = Duration::from_secs(30);

struct Stage {
    lambda: Lambda,
    provider: Provider,
    dynamo: DynamoDb,
}

async fn binary() -> Result<PathBuf, Error> {
    build::orders_binary(&[]).await
}

impl Stage {
    async fn set_up(workers: usize) -> Result<Self, Error> {
        let dynamo = DynamoDb::start().await?;
        dynamo.create_table(TABLE).await?;
        let provider = Provider::start().await?;
        let mut options = LambdaOptions::new(binary().await?, "orders");
        options.workers = workers;
        options.env = dynamo.env();
        options.env.push(("IDEMPOTENCY_TABLE".into(), TABLE.into()));
        options.env.push(("MODEL_PROVIDER_URL".into(), provider.url()));
        Ok(Self { lambda: Lambda::start(options).await?, provider, dynamo })
    }

    fn deliver(&self, messages: &[(&str, &str)], timeout: Duration) -> Invocation {
        self.lambda.invoke(sqs_event(messages).to_string(), timeout)
    }

    /// A number of the only record, in milliseconds since 1970.
    async fn millis(&self, attribute: &str) -> Result<i64, Box<dyn std::error::Error + Send + Sync>> {
        let items = self.dynamo.items(TABLE).await?;
        assert_eq!(items.len(), 1);
        match items[0].get(attribute) {
            Some(AttributeValue::N(number)) => Ok(number.parse()?),
            other => Err(format!("{attribute}: {other:?}").into()),
        }
    }

    async fn stop(self) {
        self.lambda.stop().await;
        self.dynamo.stop().await;
    }
}

fn body(order_id: u64) -> String {
    json!({"order_id": order_id, "version": 1, "instruction": "15s teaser"}).to_string()
}

/// The message ids that go back to the queue.
async fn returned(invocation: Invocation) -> Vec<String> {
    let answer = invocation.result().await;
    let Answer::Response(text) = &answer else { panic!("{answer:?}") };
    let response: Value = serde_json::from_str(text).unwrap_or_default();
    let failures = response["batchItemFailures"].as_array().cloned().unwrap_or_default();
    failures.iter().filter_map(|item| item["itemIdentifier"].as_str().map(str::to_owned)).collect()
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[tokio::test]
async fn two_deliveries_in_two_processes_are_one_call_and_both_acknowledged() -> TestResult {
    let stage = Stage::set_up(1).await?;
    let order = body(77);
    assert_eq!(returned(stage.deliver(&[("m-1", &order)], LONG)).await, [""; 0]);

    // The process that did the work is gone; only the record knows.
    let first_worker = stage.lambda.workers();
    let other = body(78);
    let held = stage.provider.hold_for("78", 1);
    let doomed = stage.deliver(&[("m-2", &other)], LONG);
    held.arrived().await?;
    doomed.kill().await;
    held.answer();

    assert_eq!(returned(stage.deliver(&[("m-1", &order)], LONG)).await, [""; 0]);
    assert_ne!(stage.lambda.workers(), first_worker);
    assert_eq!(stage.provider.calls_for("77", 1), 1, "not one result row: one call");
    stage.stop().await;
    Ok(())
}

#[tokio::test]
async fn of_a_batch_exactly_the_records_that_failed_go_back_to_the_queue() -> TestResult {
    let stage = Stage::set_up(2).await?;
    let (good, busy, replayed) = (body(1), body(2), body(3));
    assert_eq!(returned(stage.deliver(&[("m-0", &replayed)], LONG)).await, [""; 0]);
    let held = stage.provider.hold_for("2", 1);
    let first = stage.deliver(&[("m-1", &busy)], LONG);
    held.arrived().await?;

    let edited = json!({"order_id": 3, "version": 1, "instruction": "another"}).to_string();
    let no_version = json!({"order_id": 4, "version": null, "instruction": "15s teaser"}).to_string();
    let batch = [
        ("broken", "{not json"),
        ("good", good.as_str()),
        ("busy", busy.as_str()),
        ("edited", edited.as_str()),
        ("no-version", no_version.as_str()),
        ("empty", ""),
        ("replayed", replayed.as_str()),
    ];
    let failed = returned(stage.deliver(&batch, LONG)).await;
    assert_eq!(failed, ["broken", "busy", "edited", "no-version", "empty"]);

    held.answer();
    assert_eq!(returned(first).await, [""; 0]);
    let calls: Vec<usize> = ["1", "2", "3", "4"].map(|order| stage.provider.calls_for(order, 1)).into();
    assert_eq!(calls, [1, 1, 1, 0]);
    stage.stop().await;
    Ok(())
}

#[tokio::test]
async fn a_call_that_the_provider_refused_is_made_anew_at_the_next_delivery() -> TestResult {
    let stage = Stage::set_up(1).await?;
    let order = body(77);
    stage.provider.fail_next(503);
    assert_eq!(returned(stage.deliver(&[("m-1", &order)], LONG)).await, ["m-1"]);
    assert_eq!(stage.provider.calls_for("77", 1), 1, "and not repeated by the client below");
    assert_eq!(returned(stage.deliver(&[("m-1", &order)], LONG)).await, [""; 0]);
    assert_eq!(stage.provider.calls_for("77", 1), 2);
    stage.stop().await;
    Ok(())
}

/// While a call is held: the lease that its claim has.
async fn lease_end(
    stage: &Stage,
    deadline: DeadlineHeader,
) -> Result<i64, Box<dyn std::error::Error + Send + Sync>> {
    let held = stage.provider.hold_for("77", 1);
    let event = sqs_event(&[("m-1", &body(77))]).to_string();
    let invocation = stage.lambda.invoke_with_deadline_header(event, deadline, LONG);
    held.arrived().await?;
    let lease_end = stage.millis("in_progress_expiration").await?;
    held.answer();
    assert_eq!(returned(invocation).await, [""; 0]);
    Ok(lease_end)
}

#[tokio::test]
async fn a_records_lease_ends_with_the_deadline_that_lambda_sent() -> TestResult {
    let stage = Stage::set_up(1).await?;
    let deadline = now_ms() + 25_000;
    let lease_end = lease_end(&stage, DeadlineHeader::Ms(u64::try_from(deadline)?)).await?;
    assert_eq!(lease_end, deadline);
    stage.stop().await;
    Ok(())
}

#[tokio::test]
async fn the_constant_deadline_of_a_local_tool_gives_a_lease_of_a_quarter_of_an_hour() -> TestResult {
    let stage = Stage::set_up(1).await?;
    let earliest = now_ms() + 900_000;
    let lease_end = lease_end(&stage, DeadlineHeader::Ms(600_000)).await?;
    let latest = now_ms() + 900_000;
    assert!((earliest..=latest).contains(&lease_end), "{earliest} <= {lease_end} <= {latest}");
    let warnings = stage.lambda.lines().iter().filter(|line| line.text.contains("is not an instant")).count();
    assert_eq!(warnings, 1);
    stage.stop().await;
    Ok(())
}

#[tokio::test]
async fn a_worker_that_is_stopped_at_its_timeout_leaves_a_claim_that_holds() -> TestResult {
    let stage = Stage::set_up(1).await?;
    let order = body(77);
    let held = stage.provider.hold_for("77", 1);
    let earliest = now_ms();
    let timeout = Duration::from_secs(2);
    let stopped = stage.deliver(&[("m-1", &order)], timeout);
    held.arrived().await?;
    let lease_end = stage.millis("in_progress_expiration").await?;
    assert!((earliest + 2_000..=now_ms() + 2_000).contains(&lease_end), "{lease_end}");
    // The call has less time than the invocation, so the worker gives up by itself; a worker that
    // hangs is what the platform stops.
    let worker = stopped.started().await?;
    loopback::signal(worker.pid, "STOP").await?;
    assert_eq!(stopped.result().await, Answer::TimedOut);
    held.answer();

    // Lease and margin last two seconds longer than the process did.
    assert_eq!(returned(stage.deliver(&[("m-1", &order)], LONG)).await, ["m-1"]);
    assert_eq!(stage.provider.calls_for("77", 1), 1);
    stage.stop().await;
    Ok(())
}

#[tokio::test]
async fn a_function_without_its_environment_does_not_start_and_says_what_is_missing() -> TestResult {
    let dynamo = DynamoDb::start().await?;
    let mut options = LambdaOptions::new(binary().await?, "orders");
    options.env = dynamo.env();
    options.env.push(("MODEL_PROVIDER_URL".into(), "http://127.0.0.1:9".into()));
    let error = Lambda::start(options).await.err().ok_or("it started without a table")?;
    let said = error.to_string();
    assert!(said.contains("IDEMPOTENCY_TABLE is not set"), "{said}");
    dynamo.stop().await;
    Ok(())
}
