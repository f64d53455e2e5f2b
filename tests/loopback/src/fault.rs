//! What the proxy can do to a request.

use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use crate::http;
use crate::runtime_api::HttpResponse;

/// What happens to a request instead of being passed on and answered.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Answers this without asking DynamoDB.
    Respond {
        /// The HTTP status.
        status: u16,
        /// The body.
        body: Value,
    },
    /// Passes the request on and closes the connection in place of the reply.
    DropReplyAfterApply,
    /// Closes the connection without passing the request on.
    DropBefore,
    /// Waits, then passes the request on.
    Delay(Duration),
    /// Neither passes the request on nor ever answers.
    BlackHole,
    /// Removes the old item from the reply to a failed condition, as a store without `ALL_OLD` answers.
    StripOldItem,
}

impl Fault {
    /// DynamoDB's error of this name (`AccessDeniedException`, …) with the status that it has.
    pub fn error(name: &str, message: &str) -> Fault {
        let (namespace, status) = match name {
            "InternalServerError" => ("com.amazonaws.dynamodb.v20120810", 500),
            "ServiceUnavailable" => ("com.amazonaws.dynamodb.v20120810", 503),
            "AccessDeniedException"
            | "ThrottlingException"
            | "UnrecognizedClientException"
            | "ValidationException" => ("com.amazon.coral.service", 400),
            _ => ("com.amazonaws.dynamodb.v20120810", 400),
        };
        Fault::Respond {
            status,
            body: json!({ "__type": format!("{namespace}#{name}"), "message": message }),
        }
    }
}

/// An answer in DynamoDB's content type.
pub(crate) fn dynamodb_json(status: StatusCode, body: String) -> HttpResponse {
    let mut response = http::json(status, body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.0"));
    response
}

/// Takes the item out of a failed condition and out of the reasons of a cancelled transaction.
pub(crate) async fn strip_old_item(response: HttpResponse) -> HttpResponse {
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.map_or_else(|never| match never {}, |body| body.to_bytes());
    let stripped = serde_json::from_slice::<Value>(&bytes).ok().and_then(|mut body| {
        let fields = body.as_object_mut()?;
        let mut found = fields.remove("Item").is_some();
        for reason in
            fields.get_mut("CancellationReasons").and_then(Value::as_array_mut).into_iter().flatten()
        {
            found |= reason.as_object_mut().is_some_and(|reason| reason.remove("Item").is_some());
        }
        found.then(|| Bytes::from(body.to_string()))
    });
    let mut response = HttpResponse::from_parts(head, Full::new(bytes));
    if let (Some(stripped), false) = (stripped, response.status().is_success()) {
        *response.body_mut() = Full::new(stripped);
        // Both describe the body that was.
        response.headers_mut().remove("x-amz-crc32");
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    response
}
