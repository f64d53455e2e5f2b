//! What the guard adds to an invocation, beside the same handler without it, in one run.
//!
//! `cargo bench -p lambda-idempotency --no-default-features --features testing --bench overhead`
//!
//! The store is in memory, so this is the library's own time: parsing the event, key, fingerprint,
//! decisions, serialising the result. A 1 KB event with another key each time (a first run), and with
//! one key (a replay).

#![allow(missing_docs, reason = "a benchmark")]

use std::future::Future;
use std::hint::black_box;
use std::time::{Duration, Instant};

use lambda_idempotency::{
    Error, IdempotencyLayer, Key, MemoryStore, Policy, Raw, idempotent, install, service_fn,
};
use lambda_runtime::{Context, LambdaEvent};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tower::{Layer, Service};

const ROUNDS: usize = 15;
const INVOCATIONS: u32 = 4_000;

#[derive(Deserialize)]
struct Order {
    order_id: u64,
}

#[derive(Serialize, Deserialize)]
struct Receipt {
    run_id: String,
}

fn receipt(order: &Order) -> Receipt {
    Receipt { run_id: format!("run-{}", order.order_id) }
}

async fn plain(event: LambdaEvent<Raw<Order>>) -> Result<Receipt, Error> {
    Ok(receipt(&event.payload))
}

#[idempotent(key = "order_id", name = "bench.whole")]
async fn with_fingerprint(event: LambdaEvent<Raw<Order>>) -> Result<Receipt, Error> {
    Ok(receipt(&event.payload))
}

#[idempotent(key = "order_id", name = "bench.none", fingerprint = "none")]
async fn without_fingerprint(event: LambdaEvent<Raw<Order>>) -> Result<Receipt, Error> {
    Ok(receipt(&event.payload))
}

/// About 1 KB, with the members and strings of an ordinary order.
fn event(order_id: u64) -> String {
    let items: Vec<_> = (0..12)
        .map(|item| serde_json::json!({"sku": format!("SKU-{item:04}"), "qty": item, "price": "12.90", "note": "gift"}))
        .collect();
    let mut text = serde_json::json!({"order_id": order_id, "version": 3, "items": items}).to_string();
    text.reserve_exact(0);
    text
}

/// Nanoseconds per invocation: the fastest of several rounds, which is the one least disturbed.
async fn time<F, Fut>(one_key: bool, mut invoke: F) -> f64
where
    F: FnMut(String) -> Fut,
    Fut: Future<Output = ()>,
{
    let mut best = Duration::MAX;
    let mut number = 0;
    for _ in 0..ROUNDS {
        let events: Vec<_> = (0..INVOCATIONS)
            .map(|_| {
                number += u64::from(!one_key);
                event(number)
            })
            .collect();
        let started = Instant::now();
        for event in events {
            invoke(event).await;
        }
        best = best.min(started.elapsed());
    }
    best.as_nanos() as f64 / f64::from(INVOCATIONS)
}

/// As `lambda_runtime` does it: the body is parsed into the handler's event, the answer written out.
async fn through<A, S, R>(mut service: S, body: String) -> S
where
    A: for<'de> Deserialize<'de>,
    S: Service<LambdaEvent<A>, Response = R>,
    R: Serialize,
    S::Error: std::fmt::Debug,
{
    let payload = serde_json::from_slice(body.as_bytes()).expect("is an order");
    let answer = service.call(LambdaEvent::new(payload, Context::default())).await.expect("succeeds");
    black_box(serde_json::to_vec(&answer).expect("is JSON"));
    service
}

macro_rules! handler {
    ($one_key:expr, $handler:expr) => {
        time($one_key, |body| async {
            through::<Raw<Order>, _, _>(service_fn($handler), body).await;
        })
        .await
    };
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    install(MemoryStore::new()).expect("once");
    runtime.block_on(async {
        println!("{} bytes per event, {INVOCATIONS} invocations per round, best of {ROUNDS}", event(1).len());
        for (what, one_key) in [("first run", false), ("replay", true)] {
            let bare = handler!(one_key, plain);
            let none = handler!(one_key, without_fingerprint);
            let whole = handler!(one_key, with_fingerprint);
            let layer = IdempotencyLayer::new(
                MemoryStore::new(),
                Key::parse("order_id").expect("a key"),
                Policy::new(),
            )
            .expect("a layer");
            let layered = time(one_key, |body| {
                let service = layer.layer(tower::service_fn(plain));
                async {
                    through::<Box<RawValue>, _, _>(service, body).await;
                }
            })
            .await;
            println!("{what}: plain handler {:.2} us", bare / 1e3);
            for (path, time) in [
                ("macro, no fingerprint", none),
                ("macro, whole fingerprint", whole),
                ("layer, whole fingerprint", layered),
            ] {
                println!("  {path:<26} {:>6.2} us more ({:.1} times)", (time - bare) / 1e3, time / bare);
            }
        }
    });
}
