//! A Lambda binary that answers HTTP requests, guarded by a layer or by an annotated handler (`GUARD`), with its
//! records in memory: for the tests of what a client is told.

use lambda_idempotency::{
    IdempotencyLayer, Key, MemoryStore, Policy, Raw, idempotent, install, proxy, service_fn,
};
use lambda_runtime::{Error, LambdaEvent, run};
use serde_json::{Value, json};
use tower::ServiceBuilder;

async fn handle(event: LambdaEvent<Value>) -> Result<Value, Error> {
    match event.payload["body"].as_str() {
        Some("fail") => Err("as the request says".into()),
        _ => Ok(json!({"statusCode": 201, "body": event.context.request_id})),
    }
}

#[idempotent(key = "header(multiValueHeaders || headers, 'idempotency-key')", name = "orders.create")]
async fn create(event: LambdaEvent<Raw<Value>>) -> Result<Value, Error> {
    let LambdaEvent { payload, context } = event;
    handle(LambdaEvent::new(payload.into_inner(), context)).await
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    match std::env::var("GUARD")?.as_str() {
        "layer" => {
            let key = Key::parse("header(multiValueHeaders || headers, 'idempotency-key')")?;
            let layer = IdempotencyLayer::new(MemoryStore::new(), key, Policy::new())?;
            run(ServiceBuilder::new().layer(layer.on_refused(proxy::problem)).service_fn(handle)).await
        }
        _ => {
            install(MemoryStore::new())?;
            run(service_fn(create).on_refused(proxy::problem)).await
        }
    }
}
