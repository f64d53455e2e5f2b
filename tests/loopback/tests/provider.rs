//! The provider, called as a client calls it.

use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::rt::TokioIo;
use loopback::Provider;
use tokio::net::TcpStream;

async fn call(provider: &Provider, path: &str, body: &str) -> (u16, String) {
    let url = provider.url();
    let address = url.trim_start_matches("http://");
    let stream = TcpStream::connect(address).await.expect("it listens");
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("a connection");
    tokio::spawn(connection);
    let request = Request::post(path)
        .header("host", address)
        .header("idempotency-key", "token")
        .body(Full::new(hyper::body::Bytes::from(body.to_owned())))
        .expect("a request");
    let response = sender.send_request(request).await.expect("an answer");
    let status = response.status().as_u16();
    let body = response.collect().await.expect("a body").to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}

fn order(id: &str, version: u32) -> String {
    format!(r#"{{"order_id":"{id}","version":{version},"instruction":"go"}}"#)
}

#[tokio::test]
async fn every_call_is_logged_and_answered() {
    let provider = Provider::start().await.expect("it starts");
    let first = call(&provider, "/v1/runs", &order("a", 1)).await;
    assert_eq!(first, (200, r#"{"run_id":"run-1","status":"created"}"#.to_owned()));
    provider.fail_next(503);
    assert_eq!(call(&provider, "/v1/runs", &order("a", 2)).await.0, 503);
    assert_eq!(call(&provider, "/v1/runs", "[]").await.0, 400);
    assert_eq!(call(&provider, "/v2", "").await.0, 404);
    let calls = provider.calls();
    assert_eq!(calls.len(), 2, "what is no call is not logged");
    assert_eq!((calls[0].order_id.as_str(), calls[0].version.as_str()), ("a", "1"));
    assert_eq!(calls[0].idempotency_key.as_deref(), Some("token"));
    assert_eq!(calls[0].body, order("a", 1));
    assert_eq!((provider.calls_for("a", 1), provider.calls_for("a", 2)), (1, 1));
    assert_eq!(provider.calls_for("b", 1), 0);
}

#[tokio::test]
async fn a_held_call_is_logged_and_waits_while_others_pass() {
    let provider = Arc::new(Provider::start().await.expect("it starts"));
    let held = provider.hold_for("a", 2);
    assert!(!held.has_arrived());
    let caller = Arc::clone(&provider);
    let waiting = tokio::spawn(async move { call(&caller, "/v1/runs", &order("a", 2)).await });
    assert_eq!(held.arrived().await.expect("it comes").version, "2");
    assert_eq!(provider.calls_for("a", 2), 1, "logged before it is answered");
    assert_eq!(call(&provider, "/v1/runs", &order("a", 1)).await.0, 200);
    assert!(!waiting.is_finished());
    held.answer();
    assert_eq!(waiting.await.expect("it ends").0, 200);
    drop(provider.hold_next());
    assert_eq!(call(&provider, "/v1/runs", &order("a", 3)).await.0, 200, "a dropped hold holds nothing");
}
