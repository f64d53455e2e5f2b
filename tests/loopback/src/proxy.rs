//! A proxy in front of a DynamoDB endpoint that records every request and breaks those it is told to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::Full;
use hyper::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderValue, TRANSFER_ENCODING};
use hyper::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::Error;
use crate::error::lock;
use crate::fault::{self, Fault};
use crate::hold::{Held, Hold};
use crate::http::{self, Received, Reply, Server};
use crate::runtime_api::HttpResponse;

/// One request that arrived.
#[derive(Clone, Debug)]
pub struct Logged {
    /// `PutItem`, `UpdateItem`, …
    pub operation: String,
    /// The request's body.
    pub body: Value,
    /// The status of the answer; `None` while there is none, and for ever when the connection was cut.
    pub status: Option<u16>,
}

/// The proxy.
#[derive(Debug)]
pub struct Proxy {
    server: Server,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    upstream: String,
    state: Mutex<State>,
    /// Told at every arrival.
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct State {
    log: Vec<(u64, Logged)>,
    last: u64,
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    operation: String,
    /// `None` is for ever.
    left: Option<usize>,
    action: Action,
}

#[derive(Debug)]
enum Action {
    Fault(Fault),
    /// Taken by the request that it holds.
    Hold(Option<Hold<Logged>>),
}

impl Proxy {
    /// Starts one in front of `http://HOST:PORT`.
    pub async fn start(upstream: &str) -> Result<Proxy, Error> {
        let upstream = upstream.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let shared = Arc::new(Shared { upstream, state: Mutex::default(), changed: watch::Sender::new(()) });
        let handler = Arc::clone(&shared);
        let server = http::serve(move |request| Arc::clone(&handler).answer(request)).await?;
        Ok(Proxy { server, shared })
    }

    /// `http://127.0.0.1:PORT`
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// The requests in the order of their arrival.
    pub fn log(&self) -> Vec<Logged> {
        lock(&self.shared.state).log.iter().map(|(_, logged)| logged.clone()).collect()
    }

    /// The operations of [`log`](Self::log).
    pub fn operations(&self) -> Vec<String> {
        self.log().into_iter().map(|logged| logged.operation).collect()
    }

    /// Empties the log; the rules stay.
    pub fn clear(&self) {
        lock(&self.shared.state).log.clear();
    }

    /// Waits until the log holds `count` requests of this operation.
    pub async fn wait_for(&self, operation: &str, count: usize, timeout: Duration) -> Result<(), Error> {
        let mut changed = self.shared.changed.subscribe();
        let there = || self.operations().iter().filter(|logged| *logged == operation).count() >= count;
        let arrived = changed.wait_for(|()| there());
        match tokio::time::timeout(timeout, arrived).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(Error::Stopped(format!("{operation} arrived"))),
            Err(_) => Err(Error::TimedOut { event: format!("{operation} number {count}"), after: timeout }),
        }
    }

    /// Breaks the next request of this operation. Rules for one operation are used in the order they were given.
    pub fn fault_next(&self, operation: &str, fault: Fault) {
        self.fault_times(operation, 1, fault);
    }

    /// Breaks the next `times` requests of this operation.
    pub fn fault_times(&self, operation: &str, times: usize, fault: Fault) {
        self.rule(operation, Some(times), Action::Fault(fault));
    }

    /// Breaks every request of this operation until [`heal`](Self::heal).
    pub fn fault_always(&self, operation: &str, fault: Fault) {
        self.rule(operation, None, Action::Fault(fault));
    }

    /// Holds the next request of this operation before it is passed on.
    pub fn hold_next(&self, operation: &str) -> Held<Logged> {
        let (held, hold) = Hold::new(format!("{operation} through the proxy"));
        self.rule(operation, Some(1), Action::Hold(Some(hold)));
        held
    }

    /// Removes all rules.
    pub fn heal(&self) {
        lock(&self.shared.state).rules.clear();
    }

    fn rule(&self, operation: &str, left: Option<usize>, action: Action) {
        let operation = operation.to_owned();
        lock(&self.shared.state).rules.push(Rule { operation, left, action });
    }
}

impl State {
    /// Logs a request and takes what is to happen to it.
    fn arrive(&mut self, logged: Logged) -> (u64, Option<Action>) {
        self.rules.retain_mut(|rule| {
            let abandoned = match &mut rule.action {
                Action::Hold(Some(hold)) => hold.is_abandoned(),
                Action::Hold(None) | Action::Fault(_) => false,
            };
            !abandoned && rule.left != Some(0)
        });
        let mut action = None;
        if let Some(rule) = self.rules.iter_mut().find(|rule| rule.operation == logged.operation) {
            rule.left = rule.left.map(|left| left - 1);
            action = Some(match &mut rule.action {
                Action::Fault(fault) => Action::Fault(fault.clone()),
                Action::Hold(hold) => Action::Hold(hold.take()),
            });
        }
        self.last += 1;
        self.log.push((self.last, logged));
        (self.last, action)
    }
}

impl Shared {
    async fn answer(self: Arc<Self>, request: Received) -> Reply {
        let operation = request.header("x-amz-target").and_then(|target| target.rsplit('.').next());
        let operation = operation.unwrap_or_default().to_owned();
        let body = serde_json::from_slice(&request.body).unwrap_or_default();
        let logged = Logged { operation, body, status: None };
        let (number, action) = lock(&self.state).arrive(logged.clone());
        self.changed.send_replace(());
        let reply = match action {
            None => Some(self.forward(request).await),
            Some(Action::Hold(hold)) => {
                if let Some(hold) = hold {
                    hold.wait(logged).await;
                }
                Some(self.forward(request).await)
            }
            Some(Action::Fault(fault)) => self.break_it(request, fault).await,
        };
        let mut state = lock(&self.state);
        if let Some((_, logged)) = state.log.iter_mut().find(|(logged, _)| *logged == number) {
            logged.status = reply.as_ref().map(|reply| reply.status().as_u16());
        }
        reply
    }

    async fn break_it(&self, request: Received, fault: Fault) -> Reply {
        match fault {
            Fault::Respond { status, body } => {
                let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                Some(fault::dynamodb_json(status, body.to_string()))
            }
            Fault::DropReplyAfterApply => {
                self.forward(request).await;
                None
            }
            Fault::DropBefore => None,
            Fault::Delay(time) => {
                tokio::time::sleep(time).await;
                Some(self.forward(request).await)
            }
            Fault::BlackHole => std::future::pending().await,
            Fault::StripOldItem => Some(fault::strip_old_item(self.forward(request).await).await),
        }
    }

    async fn forward(&self, received: Received) -> HttpResponse {
        let mut request = Request::new(Full::new(received.body));
        *request.method_mut() = received.method;
        *request.headers_mut() = received.headers;
        for name in [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
            request.headers_mut().remove(name);
        }
        let sent = match (received.path.parse(), HeaderValue::try_from(&self.upstream)) {
            (Ok(uri), Ok(host)) => {
                *request.uri_mut() = uri;
                request.headers_mut().insert(HOST, host);
                http::forward(&self.upstream, request).await
            }
            _ => Err("no usable address".into()),
        };
        sent.unwrap_or_else(|error| {
            let body = json!({ "message": format!("the proxy cannot reach {}: {error}", self.upstream) });
            fault::dynamodb_json(StatusCode::BAD_GATEWAY, body.to_string())
        })
    }
}
