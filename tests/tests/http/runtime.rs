//! The same through the real loop of `lambda_runtime`, with each kind of event.

use std::time::Duration;

use lambda_idempotency_tests::{TestResult, sqs_event};
use loopback::{Answer, Lambda, LambdaOptions, build};
use serde_json::Value;

use crate::events::{header, problem, request, takers};

const LONG: Duration = Duration::from_secs(30);

async fn response(lambda: &Lambda, event: String) -> Result<Value, String> {
    match lambda.invoke(event, LONG).result().await {
        Answer::Response(text) => serde_json::from_str(&text).map_err(|error| error.to_string()),
        other => Err(format!("{other:?}")),
    }
}

async fn error_type(lambda: &Lambda, event: String) -> Result<String, String> {
    match lambda.invoke(event, LONG).result().await {
        Answer::FunctionError { error_type, .. } => Ok(error_type),
        other => Err(format!("{other:?}")),
    }
}

async fn requests_are_answered_by(guard: &str) -> TestResult {
    let mut options = LambdaOptions::new(build::example("requests", &[]).await?, "requests");
    options.env.push(("GUARD".into(), guard.into()));
    let lambda = Lambda::start(options).await?;
    for (taker, event) in takers() {
        // A key for each: what the takers make of a request is not the same content.
        let key = Some(taker);
        let missing = response(&lambda, request(&event, None, "{}")?).await?;
        assert_eq!(missing["statusCode"], 400, "{taker}");
        assert_eq!(problem(&missing)?["code"], "idempotency-key-required", "{taker}");
        let first = response(&lambda, request(&event, key, "{}")?).await?;
        assert_eq!(first["statusCode"], 201, "{taker}");
        assert_eq!(response(&lambda, request(&event, key, "{}")?).await?, first, "{taker}");
        let mismatch = response(&lambda, request(&event, key, "other")?).await?;
        assert_eq!(mismatch["statusCode"], 422, "{taker}");
        assert_eq!(problem(&mismatch)?["code"], "idempotency-key-mismatch", "{taker}");
        assert_eq!(header(taker, &mismatch, "content-type"), Some("application/problem+json"), "{taker}");
        let own = error_type(&lambda, request(&event, Some("k"), "fail")?).await?;
        assert!(!own.starts_with("Idempotency"), "{taker}: {own}");
    }
    let message = sqs_event(&[("m-1", "{}")]).to_string();
    assert_eq!(error_type(&lambda, message).await?, "IdempotencyMissingKey");
    lambda.stop().await;
    Ok(())
}

#[tokio::test]
async fn requests_are_answered_by_a_layer() -> TestResult {
    requests_are_answered_by("layer").await
}

#[tokio::test]
async fn requests_are_answered_by_an_annotated_handler() -> TestResult {
    requests_are_answered_by("macro").await
}
