//! Local runs: the constant deadline of `cargo lambda watch`, and a worker that is no Lambda function.

use std::process::Stdio;
use std::time::Duration;

use lambda_idempotency::{Engine, Key, MemoryStore};
use lambda_idempotency_tests::{ORDER_KEY, TABLE, TestResult};
use loopback::{Answer, DeadlineHeader, DynamoDb, Provider, Proxy, signal};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use under_fire::{Seed, Stage, millis_of, now_ms, order, until_ms};

use crate::{LONG, courier_binary};

/// `cargo lambda watch` sends this constant with every event.
const OF_CARGO_LAMBDA: DeadlineHeader = DeadlineHeader::Ms(600_000);
const QUARTER_OF_AN_HOUR_MS: i64 = 900_000;

#[tokio::test]
async fn the_deadline_of_cargo_lambda_watch_is_unknown_and_duplicates_are_one_call() -> TestResult {
    let stage = Stage::start(courier_binary(), "courier", 2, Seed::new()).await?;
    let order = order(77);
    let invoke = || stage.lambda.invoke_with_deadline_header(order.to_string(), OF_CARGO_LAMBDA, LONG);
    let held = stage.provider.hold_for("77", 1);
    let earliest = now_ms() + QUARTER_OF_AN_HOUR_MS;
    let first = invoke();
    held.arrived().await?;
    let lease_end = millis_of(&stage.item(&order).await?, "in_progress_expiration")?;
    assert!((earliest..=now_ms() + QUARTER_OF_AN_HOUR_MS).contains(&lease_end), "{lease_end}");
    let busy = invoke().result().await;
    assert!(matches!(busy, Answer::FunctionError { .. }), "{busy:?}");
    held.answer();
    let Answer::Response(first) = first.result().await else { panic!("no response") };
    let Answer::Response(second) = invoke().result().await else { panic!("no response") };
    let answer = |text: &str| serde_json::from_str::<Value>(text).map(|reply| reply["answer"].clone());
    assert_eq!(answer(&first)?, answer(&second)?);
    assert!(answer(&first)?["deadline_ms"].is_null(), "the function is told of no deadline");
    assert_eq!(stage.calls(&order), 1);
    stage.stop().await;
    Ok(())
}

/// A process of the worker that reads orders from its standard input.
struct Plain {
    child: Child,
    orders: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

const LEASE: Duration = Duration::from_millis(1_200);
const MARGIN_MS: i64 = 250;

impl Plain {
    fn start(table: &Proxy, provider: &Provider) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plain"));
        command.env_clear().envs(loopback::dynamo::env_for(&table.endpoint()));
        command.env("IDEMPOTENCY_TABLE", TABLE).env("LEASE_MS", LEASE.as_millis().to_string());
        command.env("MODEL_PROVIDER_URL", provider.url());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let orders = child.stdin.take().ok_or("no stdin")?;
        let lines = BufReader::new(child.stdout.take().ok_or("no stdout")?).lines();
        Ok(Self { child, orders, lines })
    }

    async fn take(&mut self, order: &Value) -> std::io::Result<()> {
        self.orders.write_all(format!("{order}\n").as_bytes()).await
    }

    /// The next line that says this.
    async fn says(&mut self, text: &str) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let search = async {
            while let Some(line) = self.lines.next_line().await? {
                if line.contains(text) {
                    return Ok(line);
                }
            }
            Err(format!("it ended without saying {text:?}").into())
        };
        tokio::time::timeout(LONG, search).await?
    }
}

/// The instant after which another may take over.
async fn lease_and_margin(
    dynamo: &DynamoDb,
    order: &Value,
) -> Result<i64, Box<dyn std::error::Error + Send + Sync>> {
    let engine = Engine::new("plain", MemoryStore::new(), Key::parse(ORDER_KEY)?)?;
    let id = engine.identify(order)?.ok_or("no key")?.id().as_str().to_owned();
    let items = dynamo.items(TABLE).await?;
    let is_it = |value: &aws_sdk_dynamodb::types::AttributeValue| value.as_s().is_ok_and(|text| *text == id);
    let item = items.iter().find(|item| item.get("id").is_some_and(is_it)).ok_or("no row")?;
    Ok(millis_of(item, "in_progress_expiration")? + MARGIN_MS)
}

#[tokio::test]
async fn a_plain_worker_holds_its_work_as_long_as_it_lives_and_no_longer() -> TestResult {
    let dynamo = DynamoDb::start().await?;
    dynamo.create_table(TABLE).await?;
    let table = Proxy::start(dynamo.endpoint()).await?;
    let provider = Provider::start().await?;
    let order = order(77);
    let (mut first, mut second) = (Plain::start(&table, &provider)?, Plain::start(&table, &provider)?);

    // Six renewals are longer than lease and margin, and it is still the first one's.
    let held = provider.hold_for("77", 1);
    first.take(&order).await?;
    held.arrived().await?;
    table.wait_for("UpdateItem", 6, LONG).await?;
    second.take(&order).await?;
    second.says("in progress").await?;

    // Once it has died it is a short delay, not a quarter of an hour.
    first.child.kill().await?;
    until_ms(lease_and_margin(&dynamo, &order).await? + 1).await;
    second.take(&order).await?;
    assert_eq!(second.says("answer: ").await?, "answer: run-2");
    drop(held);
    assert_eq!(provider.calls().len(), 2);
    Ok(())
}

#[tokio::test]
async fn a_plain_worker_that_was_frozen_past_its_lease_says_so_and_answers_as_its_successor() -> TestResult {
    let dynamo = DynamoDb::start().await?;
    dynamo.create_table(TABLE).await?;
    let table = Proxy::start(dynamo.endpoint()).await?;
    let provider = Provider::start().await?;
    let order = order(77);
    let (mut frozen, mut other) = (Plain::start(&table, &provider)?, Plain::start(&table, &provider)?);
    let pid = frozen.child.id().ok_or("no pid")?;

    let held = provider.hold_for("77", 1);
    frozen.take(&order).await?;
    held.arrived().await?;
    signal(pid, "STOP").await?;
    until_ms(lease_and_margin(&dynamo, &order).await? + 1).await;
    other.take(&order).await?;
    assert_eq!(other.says("answer: ").await?, "answer: run-2");

    // Awake, it finds at its next renewal that the lease is lost, while the function still runs.
    signal(pid, "CONT").await?;
    frozen.says("the lease is lost while the function runs").await?;
    held.answer();
    let line = frozen.says("lease_lost").await?;
    assert!(
        line.contains("Replayed") && line.contains("lease_lost=true")
            || line.contains(r#""lease_lost":true"#),
        "{line}"
    );
    assert_eq!(frozen.says("answer: ").await?, "answer: run-2");
    assert_eq!(provider.calls().len(), 2);
    Ok(())
}
