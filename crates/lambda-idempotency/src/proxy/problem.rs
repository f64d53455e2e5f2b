//! This library's errors as HTTP responses.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Error;

/// The longest that a client is told to stay away, in seconds: a lease can be long, and most work ends before it.
const LONGEST_WAIT: u64 = 30;

/// How long a client stays away where nobody knows when it will be better, in seconds.
const UNKNOWN_WAIT: u64 = 5;

/// Where the codes are described.
const DESCRIBED: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/http.md#");

/// What a client of an HTTP API is told of a refusal, as the response that API Gateway, a function URL or a load
/// balancer takes from a function: for [`IdempotencyLayer::on_refused`](crate::IdempotencyLayer::on_refused) and
/// [`ServiceFn::on_refused`](crate::ServiceFn::on_refused). `None` for what a client can do nothing about.
///
/// The body is `application/problem+json` ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)) with `type`, `title`,
/// `status`, `detail`, and beside them `code`, which does not change from one version to the next, and `retryable`:
/// whether the very same request can succeed later.
///
/// | error | status | `code` | `retryable` | why |
/// |---|---|---|---|---|
/// | `MissingKey` | 400 | `idempotency-key-required` | no | as the draft says |
/// | `InvalidKey` | 400 | `idempotency-key-invalid` | no | the request has to be corrected |
/// | `InvalidInput`, `UnreadableEvent`, `SeveralRecords` | 400 | `request-invalid` | no | the same, of its content |
/// | `PayloadMismatch` | 422 | `idempotency-key-mismatch` | no | as the draft says; nothing of the other request is shown |
/// | `AlreadyInProgress` | 409 | `idempotency-key-in-use` | yes | as the draft says; `Retry-After` is the time until [`Error::retry_at`], 1 to 30 s |
/// | `Interrupted` | 409 | `outcome-unknown` | no | repeating it changes nothing: somebody has to find out |
/// | `ResultNotStored` | 409 | `result-not-stored` | no | the work is done: the client must not have it done again under another key |
/// | `DeadlinePassed`, `InconsistentState`; `Store`, `ResultUnavailable` where they are retryable | 503 | `temporarily-unavailable` | yes | the guarded function did not run, and it passes; `Retry-After` is 5 s |
/// | `Store`, `ResultUnavailable` that are not retryable; `Config`, `CorruptRecord`, `ReplayDecode` | none | | | faults of the setup, which only an operator can mend: the alarms on failed invocations have to see them |
/// | `NotRecorded`, `LeaseLost`, `InvalidResult` | none | | | the function has run, and an effect may happen twice: the same alarms |
/// | `TransactionRefused` | none | | | a condition of the function's own failed: only the function knows what that means |
///
/// 400, 409 and 422 are those of the IETF draft [The Idempotency-Key HTTP Header
/// Field](https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/), "Error Scenarios": a client must
/// correct a request before it repeats it, except after 409. `Retry-After` is whole seconds, rounded up
/// ([RFC 9110](https://www.rfc-editor.org/rfc/rfc9110), 10.2.3; 409, 422 and 503 are 15.5.10, 15.5.21 and 15.6.4). The
/// cap is short because a lease can last a quarter of an hour while the work ends in a second.
///
/// Nothing in it comes from the request, the record or the setup: `detail` is one text per code. There is no record id
/// either, since it begins with the function's name; the log line of the refusal has it.
///
/// **Not for events of queues and streams**: a refusal that is returned as a response is a success, and the message
/// is deleted. `on_refused` sees to that; whoever calls this by hand has to.
///
/// ```
/// use lambda_idempotency::{EpochMillis, Error, proxy};
/// use serde_json::{Value, json};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let id = lambda_idempotency::compute_id("orders", "id", &json!({"id": 1}))?;
/// let now = EpochMillis::new(1_900_000_000_000);
/// let busy = Error::AlreadyInProgress { id, retry_at: EpochMillis::new(1_900_000_002_100), now };
/// let response = proxy::problem(&busy).ok_or("none for HTTP")?;
/// assert_eq!(response["statusCode"], 409);
/// assert_eq!(response["headers"], json!({"content-type": "application/problem+json", "retry-after": "3"}));
/// let body: Value = serde_json::from_str(response["body"].as_str().unwrap_or_default())?;
/// assert_eq!((&body["code"], &body["retryable"]), (&json!("idempotency-key-in-use"), &json!(true)));
/// # Ok(())
/// # }
/// ```
pub fn problem(error: &Error) -> Option<Value> {
    problem_at(error, DESCRIBED)
}

/// [`problem`], with a `type` of your own: `base` with the code behind it. The draft asks for a link to where the API's
/// use of keys is described.
///
/// ```
/// use lambda_idempotency::{IdempotencyLayer, Key, MemoryStore, Policy, proxy};
///
/// # type Event = serde_json::Value;
/// let key = Key::parse("header(headers, 'idempotency-key')")?;
/// let layer: IdempotencyLayer<Event> = IdempotencyLayer::new(MemoryStore::new(), key, Policy::new())?
///     .on_refused(|error| proxy::problem_at(error, "https://api.example.com/problems#"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn problem_at(error: &Error, base: &str) -> Option<Value> {
    let Problem { status, code, title, detail, retry_after } = Problem::of(error)?;
    let body = json!({
        "type": format!("{base}{code}"),
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        "retryable": retry_after.is_some(),
    });
    let mut headers = json!({"content-type": "application/problem+json"});
    if let Some(seconds) = retry_after {
        headers["retry-after"] = seconds.to_string().into();
    }
    // What every taker knows. Not so `statusDescription`: load balancers once asked for it and do not any more
    // (https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html, "Respond to the
    // load balancer").
    Some(json!({
        "statusCode": status,
        "headers": headers,
        "body": body.to_string(),
        "isBase64Encoded": false,
    }))
}

/// What is said of an error.
struct Problem {
    status: u16,
    code: &'static str,
    title: &'static str,
    detail: &'static str,
    /// Seconds after which the same request can succeed; `None` where it cannot.
    retry_after: Option<u64>,
}

impl Problem {
    fn of(error: &Error) -> Option<Self> {
        Some(match error {
            Error::MissingKey { .. } => Self {
                status: 400,
                code: "idempotency-key-required",
                title: "The idempotency key is missing",
                detail: "This operation takes an idempotency key, and the request has none.",
                retry_after: None,
            },
            Error::InvalidKey { .. } => Self {
                status: 400,
                code: "idempotency-key-invalid",
                title: "The idempotency key cannot be read",
                detail: "The idempotency key, or the content that it stands for, cannot be taken from the request.",
                retry_after: None,
            },
            Error::InvalidInput { .. } | Error::UnreadableEvent { .. } | Error::SeveralRecords { .. } => {
                Self {
                    status: 400,
                    code: "request-invalid",
                    title: "The request cannot be read",
                    detail: "The content of the request is not what this operation takes.",
                    retry_after: None,
                }
            }
            Error::PayloadMismatch { .. } => Self {
                status: 422,
                code: "idempotency-key-mismatch",
                title: "The idempotency key was used for another request",
                detail: "This idempotency key was used before with other content. Another request needs another key.",
                retry_after: None,
            },
            Error::AlreadyInProgress { retry_at, now, .. } => Self {
                status: 409,
                code: "idempotency-key-in-use",
                title: "A request with this idempotency key is in progress",
                detail: "The same request is being worked on. Repeat it later, unchanged and under the same key, for its \
                         answer.",
                retry_after: Some(whole_seconds(now.until(*retry_at)).clamp(1, LONGEST_WAIT)),
            },
            Error::Interrupted { .. } => Self {
                status: 409,
                code: "outcome-unknown",
                title: "The outcome of this request is not known",
                detail: "An earlier attempt at this request was interrupted and may have done its work. Repeating it \
                         changes nothing; find out before it is asked for under another key.",
                retry_after: None,
            },
            Error::ResultNotStored { .. } => Self {
                status: 409,
                code: "result-not-stored",
                title: "The request was carried out before",
                detail: "This request was carried out, but its answer was not kept. Do not ask for it again, under this \
                         key or another.",
                retry_after: None,
            },
            Error::DeadlinePassed { .. } | Error::InconsistentState { .. } => Self::UNAVAILABLE,
            Error::Store { source, .. } | Error::ResultUnavailable { source, .. }
                if source.is_retryable() =>
            {
                Self::UNAVAILABLE
            }
            _ => return None,
        })
    }

    const UNAVAILABLE: Self = Self {
        status: 503,
        code: "temporarily-unavailable",
        title: "The request cannot be carried out at the moment",
        detail: "The request could not be carried out. Repeat it later, unchanged and under the same key.",
        retry_after: Some(UNKNOWN_WAIT),
    };
}

/// Rounded up: a client that comes early would only be sent away again.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0))
}
