//! For functions that answer HTTP requests, behind API Gateway, a load balancer or a function URL: which
//! responses are answers for everybody, what a replayed one tells its caller, and what a caller is told who is
//! refused.
//!
//! All of these responses are JSON objects of one shape: `statusCode`, `headers`, `multiValueHeaders`, `cookies`
//! (payload format 2.0), `body`, `isBase64Encoded`.

mod load_balancer;
mod problem;

use serde::Serialize;
use serde_json::Value;

use crate::json_members::members;

pub(crate) use load_balancer::for_load_balancer;
pub use problem::{problem, problem_at};

/// For `store_if`: every response is an answer but those that ask to come again, 5xx and 429. Their key is
/// given back, so that the next delivery is a real attempt instead of yesterday's failure.
///
/// Which promise this gives up: a 500 or 504 can come after an effect, and the next attempt has it again. Without
/// it every `Ok` is stored and replayed, these too.
///
/// Any type that is written with a `statusCode` will do; one without is an answer.
///
/// ```
/// use lambda_idempotency::{Raw, idempotent, proxy};
/// use lambda_runtime::{Error, LambdaEvent};
/// use serde_json::{Value, json};
///
/// #[idempotent(key = "header(headers, 'idempotency-key')", store_if = proxy::is_answer)]
/// async fn create(event: LambdaEvent<Raw<Value>>) -> Result<Value, Error> {
///     Ok(json!({"statusCode": 201, "body": "created"}))
/// }
///
/// assert!(proxy::is_answer(&json!({"statusCode": 404})));
/// assert!(!proxy::is_answer(&json!({"statusCode": 503})));
/// ```
pub fn is_answer<T: Serialize + ?Sized>(response: &T) -> bool {
    let status = members(response).remove("statusCode").and_then(|status| match status {
        Value::String(text) => text.parse().ok(),
        number => number.as_f64(),
    });
    // What has no status is judged by nobody.
    status.is_none_or(|status: f64| status < 500.0 && status != 429.0)
}

/// Sets a header of a response, whatever the case of its name there: for
/// [`IdempotencyLayer::on_replay`](crate::IdempotencyLayer::on_replay).
///
/// ```
/// use lambda_idempotency::proxy;
/// use serde_json::json;
///
/// let mut response = json!({"statusCode": 201, "headers": {"X-Idempotent-Replayed": "false"}});
/// proxy::set_header(&mut response, "x-idempotent-replayed", "true");
/// assert_eq!(response["headers"], json!({"x-idempotent-replayed": "true"}));
/// ```
pub fn set_header(response: &mut Value, name: &str, value: &str) {
    remove_headers(response, &[name]);
    let Value::Object(response) = response else { return };
    // A response to a load balancer has one of the two, and the other is then ignored.
    let several = response.get("multiValueHeaders").is_some_and(Value::is_object);
    let (member, value) = match several {
        true => ("multiValueHeaders", Value::from(vec![value])),
        false => ("headers", Value::from(value)),
    };
    let headers = response.entry(member).or_insert_with(|| Value::Object(serde_json::Map::new()));
    if headers.is_null() {
        *headers = Value::Object(serde_json::Map::new());
    }
    if let Value::Object(headers) = headers {
        headers.insert(name.to_owned(), value);
    }
}

/// Removes headers from a response, whatever the case of their names; `set-cookie` with the `cookies` of payload
/// format 2.0. For what belongs to one exchange and not to its repetition.
///
/// ```
/// use lambda_idempotency::proxy;
/// use serde_json::json;
///
/// let mut response = json!({"statusCode": 201, "headers": {"Location": "/o/1", "Set-Cookie": "a=1"}});
/// proxy::remove_headers(&mut response, &["set-cookie", "date"]);
/// assert_eq!(response["headers"], json!({"Location": "/o/1"}));
/// ```
pub fn remove_headers(response: &mut Value, names: &[&str]) {
    let Value::Object(response) = response else { return };
    let is_named = |header: &str| names.iter().any(|name| name.eq_ignore_ascii_case(header));
    for member in ["headers", "multiValueHeaders"] {
        if let Some(Value::Object(headers)) = response.get_mut(member) {
            headers.retain(|header, _| !is_named(header));
        }
    }
    if is_named("set-cookie") {
        response.remove("cookies");
    }
}
