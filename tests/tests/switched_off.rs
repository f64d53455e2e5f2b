//! `IDEMPOTENCY_DISABLED=true` in a test of one's own: nothing of AWS and of Lambda is needed, and nothing is kept
//! from running. The switch is read once in a process, so the test runs itself in one where it is set.

use std::process::Command;
use std::time::Duration;

use lambda_idempotency::{
    DynamoDbStore, Engine, Error, IdempotencyLayer, Key, Lease, Policy, Powertools, Raw, idempotent, install,
    observed,
};
use lambda_idempotency_tests::{TestResult, Work};
use lambda_runtime::{Context, LambdaEvent};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tower::{Layer, ServiceExt, service_fn};

const NAME: &str = "${AWS_LAMBDA_FUNCTION_NAME}.app.handler";

#[idempotent(key = "order_id", input = order, name = "orders.submit")]
async fn submit(order: &Value, work: &Work) -> Result<usize, Error> {
    Ok(work.run())
}

#[idempotent(key = "order_id", input = event.payload, name = "${AWS_LAMBDA_FUNCTION_NAME}.app.handler")]
async fn taken_over(event: LambdaEvent<Raw<Value>>, work: &Work) -> Result<usize, Error> {
    let _ = event;
    Ok(work.run())
}

static CONTRADICTORY: Policy = Policy::new().lease(Lease::Fixed(Duration::from_secs(7200)));

#[idempotent(key = "order_id", input = order, expires_after = "1h", policy = &CONTRADICTORY)]
async fn contradictory(order: &Value, work: &Work) -> Result<usize, Error> {
    Ok(work.run())
}

trait Ship {
    #[idempotent(key = "order_id", input = order)]
    async fn ship(&self, order: &Value, work: &Work) -> Result<usize, Error> {
        Ok(work.run())
    }
}

impl Ship for u8 {}
impl Ship for u16 {}

/// What is refused at its first call otherwise: the switch is there for the night on which that is found out.
async fn twice_each_that_cannot_be_guarded() -> Result<Vec<usize>, Error> {
    #[idempotent(key = "order_id", input = order)]
    async fn nameless(order: &Value, work: &Work) -> Result<usize, Error> {
        Ok(work.run())
    }
    let (work, order) = (Work::new(), json!({"order_id": 77}));
    let mut runs = Vec::new();
    for _ in 0..2 {
        runs.push(nameless(&order, &work).await?);
        runs.push(contradictory(&order, &work).await?);
        runs.push(1_u8.ship(&order, &work).await?);
        runs.push(1_u16.ship(&order, &work).await?);
    }
    Ok(runs)
}

/// Everything that can be guarded, twice each; the numbers of the runs.
async fn twice_each() -> Result<Vec<usize>, Box<dyn std::error::Error + Send + Sync>> {
    let work = Work::new();
    let mut runs = Vec::new();
    install(DynamoDbStore::from_env().await?)?;
    let key = || Key::parse("order_id");
    let engine = Engine::new(NAME, DynamoDbStore::from_env().await?, key()?)?;
    let powertools = Policy::new().powertools(Powertools::python());
    let layer = IdempotencyLayer::<Value>::new(DynamoDbStore::from_env().await?, key()?, powertools)?;
    let inside = work.clone();
    let service = layer.name(NAME)?.layer(service_fn(move |_: LambdaEvent<Value>| {
        let run = inside.run();
        async move { Ok::<_, Error>(run) }
    }));
    // With a key, and without.
    for order in [json!({"order_id": 77}), json!({})] {
        for _ in 0..2 {
            let (run, seen) = observed(submit(&order, &work)).await;
            assert_eq!(seen.map(|seen| seen.outcome), Some("Unprotected"));
            runs.push(run?);
            let event = LambdaEvent::new(Raw::from_value(&order)?, Context::default());
            runs.push(taken_over(event, &work).await?);
            let run = engine.run(&order, |_| async { Ok::<_, Error>(work.run()) }).await?;
            runs.extend(run.into_value());
            let event = LambdaEvent::new(RawValue::from_string(order.to_string())?, Context::default());
            let answer = service.clone().oneshot(event).await.map_err(|error| error.error_message)?;
            runs.push(answer.get().parse()?);
        }
    }
    Ok(runs)
}

#[tokio::test]
async fn without_protection_everything_runs_and_nothing_of_aws_is_needed() -> TestResult {
    if std::env::var_os("SWITCHED_OFF_TEST").is_some() {
        assert_eq!(twice_each().await?, (1..=16).collect::<Vec<_>>());
        assert_eq!(twice_each_that_cannot_be_guarded().await?, (1..=8).collect::<Vec<_>>());
        return Ok(());
    }
    let mut child = Command::new(std::env::current_exe()?);
    // No region, no credentials, no table, no name of a Lambda function.
    child.env_clear().env("SWITCHED_OFF_TEST", "1").env("IDEMPOTENCY_DISABLED", "true");
    child.args(["without_protection_everything_runs_and_nothing_of_aws_is_needed", "--exact"]);
    let output = child.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    Ok(())
}
