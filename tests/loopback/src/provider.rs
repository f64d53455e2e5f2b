//! A model provider over HTTP: `POST /v1/runs` with an order id, its version and an instruction starts a run
//! and is answered `{"run_id":"run-1","status":"created"}`.
//!
//! A call is logged when it has been read and before it is answered: that is the moment that costs money.

use std::collections::VecDeque;
use std::fmt::Display;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use hyper::{Method, StatusCode};
use serde_json::{Value, json};

use crate::Error;
use crate::error::lock;
use crate::hold::{Held, Hold};
use crate::http::{self, Received, Reply, Server};

/// One call that arrived.
#[derive(Clone, Debug)]
pub struct Call {
    /// `order_id` of the body.
    pub order_id: String,
    /// `version` of the body, as text.
    pub version: String,
    /// The `idempotency-key` header.
    pub idempotency_key: Option<String>,
    /// The body as it came.
    pub body: String,
    /// The caller's address.
    pub remote: SocketAddr,
    /// When it had been read.
    pub at: SystemTime,
}

impl Call {
    fn is(&self, order_id: &str, version: &str) -> bool {
        self.order_id == order_id && self.version == version
    }
}

/// The provider.
#[derive(Debug)]
pub struct Provider {
    server: Server,
    state: Arc<Mutex<State>>,
}

/// The one order and version that is meant; `None` is any.
type Only = Option<(String, String)>;

#[derive(Debug, Default)]
struct State {
    calls: Vec<Call>,
    holds: Vec<(Only, Hold<Call>)>,
    failures: VecDeque<u16>,
}

impl Provider {
    /// Starts it.
    pub async fn start() -> Result<Provider, Error> {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let server = http::serve(move |request| answer(Arc::clone(&shared), request)).await?;
        Ok(Provider { server, state })
    }

    /// `http://127.0.0.1:PORT`, to which `/v1/runs` is appended.
    pub fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// Every call that arrived.
    pub fn calls(&self) -> Vec<Call> {
        lock(&self.state).calls.clone()
    }

    /// How many calls arrived for this order and version.
    pub fn calls_for(&self, order_id: &str, version: impl Display) -> usize {
        let version = version.to_string();
        lock(&self.state).calls.iter().filter(|call| call.is(order_id, &version)).count()
    }

    /// Holds the next call that arrives.
    pub fn hold_next(&self) -> Held<Call> {
        self.hold(None, "a call of the provider".into())
    }

    /// Holds the next call for this order and version.
    pub fn hold_for(&self, order_id: &str, version: impl Display) -> Held<Call> {
        let version = version.to_string();
        let what = format!("a call of the provider for order {order_id} version {version}");
        self.hold(Some((order_id.to_owned(), version)), what)
    }

    fn hold(&self, only: Only, what: String) -> Held<Call> {
        let (held, hold) = Hold::new(what);
        lock(&self.state).holds.push((only, hold));
        held
    }

    /// Answers the next call that has no failure yet with this status. It is logged and can be held.
    pub fn fail_next(&self, status: u16) {
        lock(&self.state).failures.push_back(status);
    }
}

impl State {
    /// Logs a call: its number, whether it is held, and whether it fails.
    fn arrive(&mut self, call: &Call) -> (usize, Option<Hold<Call>>, Option<u16>) {
        self.calls.push(call.clone());
        self.holds.retain_mut(|(_, hold)| !hold.is_abandoned());
        let fits = |only: &Only| only.as_ref().is_none_or(|(order_id, version)| call.is(order_id, version));
        let position = self.holds.iter().position(|(only, _)| fits(only));
        let hold = position.map(|position| self.holds.remove(position).1);
        (self.calls.len(), hold, self.failures.pop_front())
    }
}

async fn answer(state: Arc<Mutex<State>>, request: Received) -> Reply {
    if request.method != Method::POST || request.path != "/v1/runs" {
        return Some(error(StatusCode::NOT_FOUND, "the only path is POST /v1/runs"));
    }
    let call = match read(&request) {
        Ok(call) => call,
        Err(message) => return Some(error(StatusCode::BAD_REQUEST, &message)),
    };
    let (number, hold, failure) = lock(&state).arrive(&call);
    if let Some(hold) = hold {
        hold.wait(call).await;
    }
    Some(match failure {
        Some(status) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            error(status, "failed as asked")
        }
        None => {
            let body = json!({ "run_id": format!("run-{number}"), "status": "created" });
            http::json(StatusCode::OK, body.to_string())
        }
    })
}

fn read(request: &Received) -> Result<Call, String> {
    let body: Value = serde_json::from_slice(&request.body).map_err(|error| format!("no JSON: {error}"))?;
    let field = |name: &str| match &body[name] {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(format!("{name} is missing")),
    };
    Ok(Call {
        order_id: field("order_id")?,
        version: field("version")?,
        idempotency_key: request.header("idempotency-key").map(str::to_owned),
        body: String::from_utf8_lossy(&request.body).into_owned(),
        remote: request.remote,
        at: SystemTime::now(),
    })
}

fn error(status: StatusCode, message: &str) -> hyper::Response<http_body_util::Full<hyper::body::Bytes>> {
    http::json(status, json!({ "error": message }).to_string())
}
