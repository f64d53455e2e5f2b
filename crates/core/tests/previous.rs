//! A continuation under a new key finds the record of what it continues.

mod support;

use lambda_idempotency_core::testing::{Fault, Verb};
use lambda_idempotency_core::{Aes256Gcm, Attempt, Engine, Key, Policy, Status, Typed};
use serde_json::{Value, json};
use support::{Bed, TIME, refusal};

fn engine(bed: &Bed) -> Engine {
    bed.engine(Policy::new()).previous(Key::parse("continues").expect("a key"))
}

fn first() -> Value {
    json!({"id": "77-v1"})
}

fn second() -> Value {
    json!({"id": "77-v2", "continues": "77-v1"})
}

/// What the continuation found: status and result.
async fn found(bed: &Bed, engine: &Engine, input: &Value) -> Option<(Status, Option<String>)> {
    let work = |attempt: Attempt| async move {
        Ok::<_, &'static str>(attempt.previous().map(|previous| {
            (previous.status.as_str().to_owned(), previous.result::<String>().expect("is text"))
        }))
    };
    let found = bed.invoke(TIME, engine.run(input, work)).await.expect("runs").into_value().flatten();
    found.map(|(status, result)| (Status::parse(&status).expect("a status"), result))
}

#[tokio::test]
async fn the_result_of_the_earlier_work_is_there() {
    let bed = Bed::new();
    let engine = engine(&bed).cipher(Aes256Gcm::new(&[7; 32])).expect("a name");
    bed.run(&engine, &first()).await.expect("runs");
    let previous = found(&bed, &engine, &second()).await;
    assert_eq!(previous, Some((Status::Completed, Some("run-1".to_owned()))));
}

#[tokio::test]
async fn a_stored_failure_replays_and_the_new_key_runs_and_knows_of_it() {
    let bed = Bed::new();
    let engine = engine(&bed);
    let results = Typed::<u32, String>::new().store_failures();
    let fails = |_| async {
        bed.effect();
        Err::<u32, _>("out of memory".to_owned())
    };
    let input = first();
    for _ in 0..2 {
        bed.invoke(TIME, engine.run_with(&input, &results, fails)).await.expect_err("fails");
    }
    assert_eq!(bed.effects(), 1);
    let continued = |attempt: Attempt| async move {
        let previous = attempt.previous().expect("is known");
        assert_eq!(previous.result::<u32>(), Ok(None));
        assert_eq!(previous.failure::<String>(), Ok(Some("out of memory".to_owned())));
        assert!(!format!("{previous:?}").contains("memory"));
        Ok::<_, String>(1)
    };
    let input = second();
    bed.invoke(TIME, engine.run_with(&input, &results, continued)).await.expect("runs");
}

#[tokio::test]
async fn what_is_not_there_is_none_and_what_is_at_work_is_said() {
    let bed = Bed::new();
    let engine = engine(&bed);
    assert_eq!(found(&bed, &engine, &second()).await, None);
    assert_eq!(found(&bed, &engine, &json!({"id": 1})).await, None);
    bed.die(&engine, &first()).await;
    let third = json!({"id": "77-v3", "continues": "77-v1"});
    assert_eq!(found(&bed, &engine, &third).await, Some((Status::InProgress, None)));
}

#[tokio::test]
async fn a_replay_reads_nothing_of_it() {
    let bed = Bed::new();
    let engine = engine(&bed);
    bed.run(&engine, &first()).await.expect("runs");
    found(&bed, &engine, &second()).await;
    let calls = bed.store.calls().len();
    found(&bed, &engine, &second()).await;
    assert_eq!(bed.store.calls()[calls..], [Verb::Claim]);
}

#[tokio::test]
async fn a_store_that_does_not_give_it_keeps_the_work_from_starting_and_the_key_free() {
    let bed = Bed::new();
    let engine = engine(&bed);
    bed.run(&engine, &first()).await.expect("runs");
    bed.store.break_next(Verb::Get, Fault::ErrorBefore);
    let error = refusal(bed.run(&engine, &second()).await);
    assert_eq!((error.name(), error.is_retryable(), bed.effects()), ("Store", true, 1));
    assert_eq!(bed.run(&engine, &second()).await.expect("runs").name(), "Executed");
}

#[tokio::test]
async fn a_takeover_that_cannot_read_it_leaves_the_next_attempt_a_takeover() {
    let bed = Bed::new();
    let engine = engine(&bed);
    bed.die(&engine, &second()).await;
    bed.clock.advance(TIME + Policy::DEFAULT_MARGIN + std::time::Duration::from_secs(1));
    bed.store.break_next(Verb::Get, Fault::ErrorBefore);
    assert_eq!(refusal(bed.run(&engine, &second()).await).name(), "Store");
    // At once.
    let input = second();
    let told = engine.run(&input, |attempt| async move { Ok::<_, &'static str>(attempt.is_takeover()) });
    assert_eq!(bed.invoke(TIME, told).await.expect("runs").into_value(), Some(true));
}
