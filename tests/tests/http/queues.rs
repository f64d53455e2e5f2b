//! Where a response is a success that loses something, a refusal stays an error.

use lambda_idempotency::{Error, IdempotencyLayer, Key, Policy, Raw, idempotent, proxy, service_fn};
use lambda_idempotency_tests::{Bench, TestResult, sqs_event};
use lambda_runtime::LambdaEvent;
use serde_json::{Value, json};
use tower::ServiceBuilder;

use crate::events::{other, plain_request};
use crate::refusals::{OrderError, failure, invoke, layer};

/// Everything that is no request, in AWS's own examples and as a payload of one's own.
fn events() -> Vec<(&'static str, String)> {
    let mut events: Vec<_> = [
        "example-sqs-event",
        "example-sns-event",
        "example-kinesis-event",
        "example-dynamodb-event",
        "example-s3-event",
        "example-eventbridge-schedule",
        // These are not recognised, nor are more that may come.
        "example-kafka-event",
        "example-activemq-event",
        "example-kinesis-firehose-event",
        "example-ses-event",
        "example-apigw-websocket-request",
        "example-vpc-lattice-v2-request",
    ]
    .map(|name| (name, other(name)))
    .into();
    events.push(("one's own", json!({"headers": {}, "body": "{}"}).to_string()));
    events
}

#[idempotent(key = "header(headers, 'idempotency-key')", allow_volatile_key, name = "orders.create")]
async fn create(event: LambdaEvent<Raw<Value>>) -> Result<Value, OrderError> {
    Ok(event.payload["body"].clone())
}

#[tokio::test]
async fn a_refusal_of_what_is_no_request_stays_an_error() -> TestResult {
    for (name, event) in events() {
        let bench = Bench::memory();
        let handler = |_: LambdaEvent<Value>| async { Ok::<_, OrderError>(json!("done")) };
        let guarded =
            ServiceBuilder::new().layer(layer(&bench)?.on_refused(proxy::problem)).service_fn(handler);
        let plain = service_fn(create).on_refused(proxy::problem);
        let errors = [
            failure(invoke(&guarded, &event).await),
            failure(bench.run(async { invoke(&plain, &event).await }).await),
        ];
        for error in errors {
            let error = error.map_err(|error| format!("{name}: {error}"))?;
            let is_refusal = ["IdempotencyMissingKey", "IdempotencySeveralRecords"];
            assert!(is_refusal.contains(&&*error.error_type), "{name}: {error:?}");
        }
        assert_eq!(bench.count().await?, 0, "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn a_message_that_is_in_progress_or_was_edited_goes_back_to_the_queue() -> TestResult {
    let bench = Bench::memory();
    let layer = || -> Result<_, Box<dyn std::error::Error + Send + Sync>> {
        let key = Key::parse("Records[0].messageAttributes.key || 'k'")?;
        let layer = IdempotencyLayer::<Value>::new(bench.store.clone(), key, Policy::new())?;
        Ok(layer.name("jobs")?.clock(bench.clock.clone()).on_refused(proxy::problem))
    };
    let message = |body: &str| sqs_event(&[("m-1", body)]).to_string();
    let stuck = ServiceBuilder::new()
        .layer(layer()?)
        .service_fn(|_: LambdaEvent<Value>| std::future::pending::<Result<Value, Error>>());
    {
        let text = message("{}");
        let first = Box::pin(invoke(&stuck, &text));
        assert!(futures_util::poll!(first).is_pending());
    }
    let quick = ServiceBuilder::new()
        .layer(layer()?)
        .service_fn(|_: LambdaEvent<Value>| async { Ok::<_, Error>(Value::Null) });
    assert_eq!(failure(invoke(&quick, &message("{}")).await)?.error_type, "IdempotencyAlreadyInProgress");
    assert_eq!(failure(invoke(&quick, &message("x")).await)?.error_type, "IdempotencyPayloadMismatch");
    Ok(())
}

#[tokio::test]
async fn a_request_that_carries_an_event_of_a_queue_is_a_request() -> TestResult {
    let bench = Bench::memory();
    let handler = |_: LambdaEvent<Value>| async { Ok::<_, OrderError>(json!("done")) };
    let service = ServiceBuilder::new().layer(layer(&bench)?.on_refused(proxy::problem)).service_fn(handler);
    let response = invoke(&service, &plain_request(None, &other("example-sqs-event"))?).await;
    assert_eq!(response.map_err(|error| error.error_type)?["statusCode"], 400);
    Ok(())
}
