//! The test that `docs/http.md` shows, and the function that it tests.

use std::sync::Arc;

use lambda_idempotency::{EpochMillis, MemoryStore, Raw, idempotent, proxy, service_fn, testing};
use lambda_runtime::{Context, Error, LambdaEvent};
use serde_json::{Value, json, value::to_raw_value};
use tower::ServiceExt;

#[idempotent(
    key = "header(multiValueHeaders || headers, 'idempotency-key')",
    name = "recipe.create",
    store_if = proxy::is_answer
)]
async fn create(event: LambdaEvent<Raw<Value>>) -> Result<Value, Error> {
    Ok(json!({"statusCode": 201, "body": event.payload["body"]}))
}

#[tokio::test]
async fn other_content_under_a_used_key_is_a_422() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (store, clock) =
        (Arc::new(MemoryStore::new()), Arc::new(testing::ManualClock::at(EpochMillis::new(0))));
    let send = async |body: &str| {
        // All that makes it a request of an HTTP API.
        let event = json!({
            "version": "2.0", "routeKey": "POST /orders", "rawPath": "/orders", "rawQueryString": "",
            "headers": {"idempotency-key": "k-1"}, "body": body,
            "requestContext": {"apiId": "a", "domainName": "a.example.com", "requestId": "r", "stage": "$default",
                               "http": {"method": "POST", "path": "/orders"}},
        });
        let event = LambdaEvent::new(to_raw_value(&event)?, Context::default());
        let call = service_fn(create).on_refused(proxy::problem).oneshot(event);
        let answer =
            testing::scope(store.clone(), clock.clone(), call).await.map_err(|error| error.error_message)?;
        Ok::<Value, Box<dyn std::error::Error + Send + Sync>>(serde_json::from_str(answer.get())?)
    };
    assert_eq!(send(r#"{"sku": 1}"#).await?["statusCode"], 201);
    assert_eq!(send(r#"{"sku": 1}"#).await?["statusCode"], 201);
    assert_eq!(send(r#"{"sku": 2}"#).await?["statusCode"], 422);
    Ok(())
}

/// The key that the document gives for bodies that can come as base64.
#[tokio::test]
async fn a_body_is_the_same_key_plain_and_as_base64() -> Result<(), Box<dyn std::error::Error + Send + Sync>>
{
    let key = "powertools_json(isBase64Encoded && powertools_base64(body) || body).order_id";
    let id = |event: Value| lambda_idempotency::compute_id("orders", key, &event);
    let plain = id(json!({"isBase64Encoded": false, "body": "{\"order_id\":77}"}))?;
    assert_eq!(id(json!({"isBase64Encoded": true, "body": "eyJvcmRlcl9pZCI6Nzd9"}))?, plain);
    assert_eq!(id(json!({"body": "{\"order_id\": 77}"}))?, plain);
    Ok(())
}
