//! The paths of the runtime API: `/w{number}/2018-06-01/runtime/…`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Method, Response, StatusCode};
use tokio::sync::{mpsc, oneshot};

use crate::error::lock;
use crate::http::{self, Received, Reply};

/// What a worker is answered.
pub(crate) type HttpResponse = Response<Full<Bytes>>;

/// The largest answer of a function, 6 MB and a little.
const LARGEST_RESPONSE: usize = 6 * 1024 * 1024 + 100;

/// Who listens on which base path.
#[derive(Debug, Default)]
pub(crate) struct Routes(Mutex<HashMap<u32, mpsc::UnboundedSender<Message>>>);

/// A request of a worker.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) call: Call,
    pub(crate) reply: oneshot::Sender<HttpResponse>,
}

/// The requests that exist.
#[derive(Debug)]
pub(crate) enum Call {
    /// Wait for the next event.
    Next,
    /// The function answered.
    Response { request_id: String, body: String },
    /// The function's answer is larger than Lambda takes.
    TooLarge { request_id: String, length: usize },
    /// The function failed.
    Error { request_id: String, error: Failure },
    /// The process cannot start.
    InitError(Failure),
}

/// `errorType` and `errorMessage`.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) error_type: String,
    pub(crate) error_message: String,
}

impl Routes {
    /// Opens a base path.
    pub(crate) fn open(&self, worker: u32) -> mpsc::UnboundedReceiver<Message> {
        let (sender, receiver) = mpsc::unbounded_channel();
        lock(&self.0).insert(worker, sender);
        receiver
    }

    /// Closes it: what a dead process still had on the wire is not heard.
    pub(crate) fn close(&self, worker: u32) {
        lock(&self.0).remove(&worker);
    }

    /// Answers one request.
    pub(crate) async fn handle(self: Arc<Self>, request: Received) -> Reply {
        let Some((worker, call)) = parse(&request) else {
            let what = format!("no such path: {} {}", request.method, request.path);
            return Some(refusal(StatusCode::NOT_FOUND, "Runtime.UnknownPath", &what));
        };
        let sender = lock(&self.0).get(&worker).cloned()?;
        let (reply, answer) = oneshot::channel();
        sender.send(Message { call, reply }).ok()?;
        answer.await.ok()
    }
}

fn parse(request: &Received) -> Option<(u32, Call)> {
    let (worker, path) = request.path.strip_prefix("/w")?.split_once('/')?;
    let path = path.strip_prefix("2018-06-01/runtime/")?;
    let call = match (&request.method, path) {
        (&Method::GET, "invocation/next") => Call::Next,
        (&Method::POST, "init/error") => Call::InitError(failure(request)),
        (&Method::POST, path) => {
            let (request_id, end) = path.strip_prefix("invocation/")?.split_once('/')?;
            let request_id = request_id.to_owned();
            match end {
                "response" if request.body.len() > LARGEST_RESPONSE => {
                    Call::TooLarge { request_id, length: request.body.len() }
                }
                "response" => {
                    let body = String::from_utf8_lossy(&request.body).into_owned();
                    Call::Response { request_id, body }
                }
                "error" => Call::Error { request_id, error: failure(request) },
                _ => return None,
            }
        }
        _ => return None,
    };
    Some((worker.parse().ok()?, call))
}

fn failure(request: &Received) -> Failure {
    let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let header = request.header("lambda-runtime-function-error-type").unwrap_or("Unhandled");
    Failure {
        error_type: body["errorType"].as_str().unwrap_or(header).to_owned(),
        error_message: body["errorMessage"].as_str().unwrap_or_default().to_owned(),
    }
}

/// What the runtime API answers to a report that it takes.
pub(crate) fn accepted() -> HttpResponse {
    http::json(StatusCode::ACCEPTED, r#"{"status":"OK"}"#)
}

/// What it answers to one that it does not.
pub(crate) fn refusal(status: StatusCode, error_type: &str, message: &str) -> HttpResponse {
    let body = serde_json::json!({ "errorType": error_type, "errorMessage": message });
    http::json(status, body.to_string())
}
