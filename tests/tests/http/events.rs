//! Requests as API Gateway, function URLs and load balancers hand them to a function, after AWS's own examples.

use serde_json::{Value, json};

#[path = "../../../crates/key/tests/fixtures/mod.rs"]
mod fixtures;

/// The key of every function here, wherever the request came through.
pub(crate) const KEY: &str = "header(multiValueHeaders || headers, 'idempotency-key')";

/// Who hands over a request, and a request of his without key and body.
pub(crate) fn takers() -> [(&'static str, String); 5] {
    [
        ("API Gateway, payload 1.0", fixtures::event("example-apigw-request")),
        ("API Gateway, payload 2.0", fixtures::event("example-apigw-v2-request-no-authorizer")),
        ("function URL", fixtures::FUNCTION_URL.to_owned()),
        ("load balancer", fixtures::event("example-alb-lambda-target-request-headers-only")),
        (MULTI_VALUE, fixtures::event("example-alb-lambda-target-request-multivalue-headers")),
    ]
}

/// The one that has and takes headers as lists.
pub(crate) const MULTI_VALUE: &str = "load balancer, multi-value headers";

/// A request with this key, if any, and this body.
pub(crate) fn request(event: &str, key: Option<&str>, body: &str) -> serde_json::Result<String> {
    let mut event: Value = serde_json::from_str(event)?;
    event["body"] = body.into();
    event["isBase64Encoded"] = false.into();
    if let Some(key) = key {
        if event["headers"].is_object() {
            event["headers"]["Idempotency-Key"] = key.into();
        }
        if event["multiValueHeaders"].is_object() {
            event["multiValueHeaders"]["Idempotency-Key"] = json!([key]);
        }
    }
    serde_json::to_string(&event)
}

/// A request through API Gateway.
pub(crate) fn plain_request(key: Option<&str>, body: &str) -> serde_json::Result<String> {
    request(&takers()[1].1, key, body)
}

/// An event that is no request.
pub(crate) fn other(name: &str) -> String {
    fixtures::event(name)
}

/// A header of a response, from where `taker` reads it.
pub(crate) fn header<'a>(taker: &str, response: &'a Value, name: &str) -> Option<&'a str> {
    match taker {
        // It ignores the other member.
        MULTI_VALUE => response["multiValueHeaders"][name].as_array()?.first()?.as_str(),
        _ => response["headers"][name].as_str(),
    }
}

/// The problem in a response.
pub(crate) fn problem(response: &Value) -> serde_json::Result<Value> {
    serde_json::from_str(response["body"].as_str().unwrap_or_default())
}
