//! Each panic that goes through a guarded call has its line in the log, wherever it comes from.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use lambda_idempotency::testing::{Fault, FaultyStore, Verb};
use lambda_idempotency::{Engine, Key, MemoryStore, MissingKey, Policy, Typed};
use lambda_idempotency_tests::{Capture, ORDER_KEY, TestResult, order};
use serde_json::{Value, json};

type Results = Typed<u32, &'static str>;

/// What is said of a delivery whose function ends like this, and that it panics.
async fn said(
    store: &Arc<FaultyStore<MemoryStore>>,
    policy: Policy,
    results: Results,
    input: Value,
    work: fn() -> Result<u32, &'static str>,
) -> Result<(String, String), Box<dyn std::error::Error + Send + Sync>> {
    let (capture, _guard) = Capture::start();
    let engine = Engine::new("orders.submit", Arc::clone(store), Key::parse(ORDER_KEY)?)?.policy(policy)?;
    let run = engine.run_with(&input, &results, |_| async move { work() });
    assert!(AssertUnwindSafe(run).catch_unwind().await.is_err(), "the panic goes on");
    let mut reports = capture.reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    let fields = reports.pop().ok_or("no line")?.fields;
    let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
    Ok((field("outcome"), field("note")))
}

#[tokio::test]
async fn a_panic_has_one_line_wherever_it_comes_from() -> TestResult {
    let panics = || -> Result<u32, &'static str> { panic!("the function") };
    let store = || Arc::new(FaultyStore::new(MemoryStore::new()));

    let (outcome, note) = said(&store(), Policy::new(), Results::new(), order(), panics).await?;
    assert_eq!((&*outcome, &*note), ("Panicked", ""));

    let no_key = Policy::new().missing_key(MissingKey::RunUnprotected);
    let (outcome, note) = said(&store(), no_key, Results::new(), json!({}), panics).await?;
    assert!(outcome == "Panicked" && note.contains("lacks the key"), "{outcome}: {note}");

    let away = store();
    away.break_next(Verb::Claim, Fault::ErrorBefore);
    away.break_next(Verb::Claim, Fault::ErrorBefore);
    let (outcome, note) = said(&away, Policy::new().fail_open(), Results::new(), order(), panics).await?;
    assert!(outcome == "Panicked" && note.contains("fail-open"), "{outcome}: {note}");

    let store_if = Results::new().store_if(|_| panic!("store_if"));
    let (outcome, note) = said(&store(), Policy::new(), store_if, order(), || Ok(1)).await?;
    assert!(outcome == "Panicked" && note.contains("`store_if` panicked"), "{outcome}: {note}");

    let on_error = Results::new().on_error(|_| panic!("on_error"));
    let (outcome, note) = said(&store(), Policy::new(), on_error, order(), || Err("declined")).await?;
    assert!(outcome == "Panicked" && note.contains("`on_error` panicked"), "{outcome}: {note}");
    Ok(())
}
