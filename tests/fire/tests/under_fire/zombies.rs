//! A worker that is frozen past its lease and wakes up. No lock can prevent the second call; the log has to
//! name it.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use lambda_idempotency::testing::{Fault, FaultyStore, Verb};
use lambda_idempotency::{Engine, Key, MemoryStore, RunError};
use lambda_idempotency_tests::{Bench, Capture, ORDER_KEY, TestResult, Work};
use loopback::{Answer, signal};
use serde_json::{Value, json};
use under_fire::{Seed, Stage, order};

use crate::{LONG, acknowledged, courier_binary, deliver_unenforced, message, orders_binary, returned};

const LEASE: Duration = Duration::from_secs(2);

/// The orders worker gives its call up when it wakes, because it has less time than the lease.
#[tokio::test]
async fn a_frozen_order_is_done_by_another_and_the_one_who_wakes_says_that_it_was_overtaken() -> TestResult {
    let stage = Stage::start(orders_binary().await?, "orders.submit", 2, Seed::new()).await?;
    let order = order(77);
    let held = stage.provider.hold_for("77", 1);
    let frozen = deliver_unenforced(&stage, message(&order), LEASE);
    let worker = frozen.started().await?;
    held.arrived().await?;
    signal(worker.pid, "STOP").await?;

    stage.lease_has_passed(&order).await?;
    assert!(acknowledged(stage.lambda.invoke(message(&order), LONG)).await);
    assert_eq!(stage.log(&order)?.takeovers(), 1, "the successor knows that there was one before it");

    held.answer();
    signal(worker.pid, "CONT").await?;
    assert_eq!(returned(&frozen.result().await), Some(1), "its message goes back to the queue");
    assert!(acknowledged(stage.lambda.invoke(message(&order), LONG)).await);
    assert_eq!(stage.calls(&order), 2);
    assert_eq!(stage.data(&order).await?, json!({"run_id": "run-2"}));
    assert_eq!(stage.log(&order)?.zombies(), 1, "{:?}", stage.log(&order)?);
    stage.stop().await;
    Ok(())
}

/// The courier has no limit of its own: it wakes, gets the provider's answer and wants to record it.
#[tokio::test]
async fn a_zombie_with_a_result_answers_what_its_successor_recorded() -> TestResult {
    let stage = Stage::start(courier_binary(), "courier", 2, Seed::new()).await?;
    let order = order(77);
    let held = stage.provider.hold_for("77", 1);
    let frozen = deliver_unenforced(&stage, order.to_string(), LEASE);
    let worker = frozen.started().await?;
    held.arrived().await?;
    signal(worker.pid, "STOP").await?;

    stage.lease_has_passed(&order).await?;
    let answer_of = |answer: Answer| match answer {
        Answer::Response(text) => serde_json::from_str::<Value>(&text).map(|reply| reply["answer"].clone()),
        other => Ok(json!(format!("{other:?}"))),
    };
    let second = answer_of(stage.lambda.invoke(order.to_string(), LONG).result().await)?;
    assert_eq!(second["run_id"], "run-2");

    held.answer();
    signal(worker.pid, "CONT").await?;
    assert_eq!(answer_of(frozen.result().await)?, second);
    assert_eq!(answer_of(stage.lambda.invoke(order.to_string(), LONG).result().await)?, second);
    assert_eq!((stage.calls(&order), stage.log(&order)?.zombies()), (2, 1));
    stage.stop().await;
    Ok(())
}

/// Within the lease a pause is only a pause.
#[tokio::test]
async fn a_worker_that_is_frozen_within_its_lease_is_nobodys_business() -> TestResult {
    let stage = Stage::start(orders_binary().await?, "orders.submit", 2, Seed::new()).await?;
    let order = order(77);
    let held = stage.provider.hold_for("77", 1);
    let frozen = stage.lambda.invoke(message(&order), LONG);
    let worker = frozen.started().await?;
    held.arrived().await?;
    signal(worker.pid, "STOP").await?;
    held.answer();
    assert!(!acknowledged(stage.lambda.invoke(message(&order), LONG)).await, "busy");
    signal(worker.pid, "CONT").await?;
    assert!(acknowledged(frozen).await);
    assert!(acknowledged(stage.lambda.invoke(message(&order), LONG)).await);
    let log = stage.log(&order)?;
    assert_eq!((stage.calls(&order), log.takeovers(), log.zombies()), (1, 0, 0));
    stage.stop().await;
    Ok(())
}

/// What the log says of a function that ends like this after its lease, with or without a successor.
async fn late_end(
    fails: bool,
    overtaken: bool,
) -> Result<(String, String, String), Box<dyn std::error::Error + Send + Sync>> {
    let (capture, _guard) = Capture::start();
    let bench = Bench::memory();
    let engine = bench.engine("orders.submit", ORDER_KEY)?;
    let (input, work) = (order(77), Work::new());
    let inside = work.clone();
    let late = async {
        let run = |_| async {
            inside.run_held().await;
            if fails { Err(std::io::Error::other("late")) } else { panic!("late") }
        };
        let run = AssertUnwindSafe(engine.run::<_, (), _, _, _>(&input, run));
        run.catch_unwind().await.is_ok()
    };
    let successor = async {
        work.entered().await?;
        bench.clock.advance(Duration::from_secs(903));
        if overtaken {
            engine.run(&input, |_| async { Ok::<_, std::io::Error>(()) }).await?;
        }
        work.go_on();
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
    };
    let (returned, successor) = tokio::join!(late, successor);
    successor?;
    assert_eq!(returned, fails, "a panic goes on");
    let fields = capture.reports().pop().ok_or("no line")?.fields;
    let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
    Ok((field("outcome"), field("lease_lost"), field("note")))
}

#[tokio::test]
async fn a_function_that_fails_after_its_lease_is_named_whether_or_not_it_was_overtaken() -> TestResult {
    for (fails, outcome) in [(true, "FunctionFailed"), (false, "Panicked")] {
        for overtaken in [true, false] {
            let (said, lease_lost, note) = late_end(fails, overtaken).await?;
            assert_eq!((said.as_str(), lease_lost), (outcome, overtaken.to_string()));
            assert!(note.contains("outlived its lease"), "{note}");
        }
    }
    Ok(())
}

/// A release that is sent twice finds no record the second time: that is no lost lease.
#[tokio::test]
async fn a_release_that_is_sent_twice_is_no_lost_lease() -> TestResult {
    let (capture, _guard) = Capture::start();
    let store = FaultyStore::new(MemoryStore::new());
    store.break_next(Verb::Release, Fault::Duplicate);
    let engine = Engine::new("orders.submit", store, Key::parse(ORDER_KEY)?)?;
    let failed = engine.run(&order(77), |_| async { Err::<(), _>(std::io::Error::other("no")) }).await;
    assert!(matches!(failed, Err(RunError::Function(_))));
    let fields = capture.reports().pop().ok_or("no line")?.fields;
    assert_eq!((fields["lease_lost"].as_str(), fields.get("note")), ("false", None));
    Ok(())
}
