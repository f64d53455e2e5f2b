//! The scopes of what has no name of its own: the same in every process of one Lambda function, and known outside
//! of Lambda too. A process has one Lambda function's name, so the test runs itself once with each.

use std::process::Command;

use lambda_idempotency::{Error, IdempotencyLayer, Key, Policy, idempotent};
use lambda_idempotency_tests::{Bench, TestResult};
use lambda_runtime::LambdaEvent;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tower::{Layer, ServiceExt, service_fn};

#[idempotent(key = "id", input = order)]
async fn submit(order: &Value) -> Result<(), Error> {
    let _ = order;
    Ok(())
}

#[idempotent(key = "id", input = order, name = "orders.submit")]
async fn submit_named(order: &Value) -> Result<(), Error> {
    let _ = order;
    Ok(())
}

struct Desk;

impl Desk {
    #[idempotent(key = "id", input = order)]
    async fn submit(&self, order: &Value) -> Result<(), Error> {
        let _ = order;
        Ok(())
    }
}

/// The scope of each record of one order, in alphabetical order.
async fn scopes() -> Result<Vec<String>, Box<dyn std::error::Error + Send + Sync>> {
    let (bench, order) = (Bench::memory(), json!({"id": 77}));
    bench.run(submit(&order)).await?;
    bench.run(submit_named(&order)).await?;
    bench.run(Desk.submit(&order)).await?;
    let layer = IdempotencyLayer::<Value>::new(bench.store.clone(), Key::parse("id")?, Policy::new())?;
    let service = layer.layer(service_fn(|_: LambdaEvent<Value>| async { Ok::<_, Error>(()) }));
    let event = LambdaEvent::new(RawValue::from_string(order.to_string())?, Default::default());
    service.oneshot(event).await.map_err(|error| error.error_message)?;
    let mut scopes: Vec<_> =
        bench.memory_records().iter().map(|record| record.id.name().to_owned()).collect();
    scopes.sort();
    Ok(scopes)
}

#[tokio::test]
async fn a_default_name_is_that_of_the_lambda_function_and_the_place_in_the_code() -> TestResult {
    match std::env::var("DEFAULT_NAMES_TEST").as_deref() {
        Ok("with") => {
            let expected = [
                "orders.submit",
                "shop-prod.default_names::Desk::submit",
                "shop-prod.default_names::submit",
                "shop-prod.handler",
            ];
            assert_eq!(scopes().await?, expected);
        }
        Ok(_) => {
            let expected =
                ["default_names::Desk::submit", "default_names::submit", "handler", "orders.submit"];
            assert_eq!(scopes().await?, expected);
        }
        Err(_) => {
            for (lambda, case) in [(Some("shop-prod"), "with"), (Some(""), "without"), (None, "without")] {
                let mut child = Command::new(std::env::current_exe()?);
                child.env_remove("AWS_LAMBDA_FUNCTION_NAME").env("DEFAULT_NAMES_TEST", case);
                child.envs(lambda.map(|name| ("AWS_LAMBDA_FUNCTION_NAME", name)));
                child.args([
                    "a_default_name_is_that_of_the_lambda_function_and_the_place_in_the_code",
                    "--exact",
                ]);
                let output = child.output()?;
                let said = String::from_utf8_lossy(&output.stdout);
                assert!(output.status.success() && said.contains("1 passed"), "{said}");
            }
        }
    }
    Ok(())
}
