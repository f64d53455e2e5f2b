//! What is told of each call: to the observer, and to a caller who asks.

mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lambda_idempotency_core::testing::{Fault, Verb};
use lambda_idempotency_core::{
    Engine, MissingKey, Observation, Observer, Outcome, Policy, ReplaySource, RunError, Typed, observed,
};
use serde_json::json;
use support::{Bed, START, TIME, order};

#[derive(Clone, Debug, Default)]
struct Counters(Arc<Mutex<BTreeMap<&'static str, usize>>>);

impl Observer for Counters {
    fn observe(&self, call: &Observation) {
        let mut counters = self.0.lock().expect("whole");
        for name in call.counters() {
            *counters.entry(name).or_default() += 1;
        }
    }
}

impl Counters {
    fn are(&self, expected: &[(&'static str, usize)]) {
        assert_eq!(*self.0.lock().expect("whole"), expected.iter().copied().collect());
    }
}

fn counted(bed: &Bed, policy: Policy) -> (Engine, Counters) {
    let counters = Counters::default();
    (bed.engine(policy).observer(counters.clone()), counters)
}

#[tokio::test]
async fn one_run_two_replays_and_one_busy_are_counted_so() {
    let bed = Bed::new();
    let (engine, counters) = counted(&bed, Policy::new());
    for _ in 0..3 {
        bed.run(&engine, &order()).await.expect("answers");
    }
    let other = json!({"id": 78});
    let work =
        bed.invoke(TIME, engine.run(&other, |_| std::future::pending::<Result<String, &'static str>>()));
    let mut work = Box::pin(work);
    assert!(futures_util::poll!(&mut work).is_pending());
    support::refusal(bed.run(&engine, &other).await);
    counters.are(&[("Executed", 1), ("Replayed", 2), ("AlreadyInProgress", 1)]);
    drop(work);
    counters.are(&[("Executed", 1), ("Replayed", 2), ("AlreadyInProgress", 1), ("Dropped", 1)]);
}

#[tokio::test]
async fn failures_mismatches_and_takeovers_are_counted() {
    let bed = Bed::new();
    let (engine, counters) = counted(&bed, Policy::new());
    bed.die(&bed.engine(Policy::new()), &json!({"id": 1})).await;
    bed.fail(&engine, &order()).await.expect_err("fails");
    bed.clock.advance(TIME + Policy::DEFAULT_MARGIN + Duration::from_secs(1));
    bed.run(&engine, &json!({"id": 1})).await.expect("takes over");
    support::refusal(bed.run(&engine, &json!({"id": 1, "x": 1})).await);
    support::refusal(bed.run(&engine, &json!({})).await);
    counters.are(&[
        ("FunctionFailed", 1),
        ("Executed", 1),
        ("TakenOver", 1),
        ("PayloadMismatch", 1),
        ("MissingKey", 1),
    ]);
}

#[tokio::test]
async fn a_worker_that_outlived_its_lease_is_counted_by_name() {
    let bed = Bed::new();
    let (engine, counters) = counted(&bed, Policy::new());
    let input = order();
    let slow = bed.invoke(
        TIME,
        engine.run(&input, |_| async {
            bed.clock.advance(TIME + Policy::DEFAULT_MARGIN + Duration::from_secs(1));
            // Its successor, meanwhile.
            bed.run(&bed.engine(Policy::new()), &input).await.expect("takes over");
            Ok(bed.effect())
        }),
    );
    let answer: support::Ran = slow.await;
    assert_eq!(answer.expect("the successor's").into_value().as_deref(), Some("run-1"));
    counters.are(&[("Replayed", 1), ("LeaseLost", 1), ("LeaseOutlived", 1)]);
}

#[tokio::test]
async fn stored_failures_panics_and_unprotected_runs_have_names_of_their_own() {
    let bed = Bed::new();
    let (engine, counters) = counted(&bed, Policy::new().missing_key(MissingKey::RunUnprotected));
    let results = Typed::<String, String>::new().store_failures();
    let input = order();
    for _ in 0..2 {
        let work = |_| async { Err::<String, _>("declined".to_owned()) };
        bed.invoke(TIME, engine.run_with(&input, &results, work)).await.expect_err("fails");
    }
    bed.run(&engine, &json!({})).await.expect("runs");
    let panicking = json!({"id": 1});
    let work =
        engine.run(&panicking, |_| async { if true { panic!("on purpose") } else { Ok::<u8, &str>(1) } });
    let caught = futures_util::FutureExt::catch_unwind(std::panic::AssertUnwindSafe(work)).await;
    assert!(caught.is_err());
    counters.are(&[("FunctionFailed", 1), ("FailureReplayed", 1), ("Unprotected", 1), ("Panicked", 1)]);
}

#[tokio::test]
async fn a_fail_open_run_is_counted_as_unprotected() {
    let bed = Bed::new();
    let (engine, counters) = counted(&bed, Policy::new().fail_open());
    for _ in 0..20 {
        bed.store.break_next(Verb::Claim, Fault::ErrorBefore);
    }
    bed.run(&engine, &order()).await.expect("runs");
    counters.are(&[("Unprotected", 1)]);
}

#[derive(Debug)]
struct Faulty;

impl Observer for Faulty {
    fn observe(&self, _: &Observation) {
        panic!("on purpose");
    }
}

#[tokio::test]
async fn an_observer_that_panics_changes_nothing_for_the_caller() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new()).observer(Faulty);
    let first = bed.run(&engine, &order()).await.expect("runs");
    let second = bed.run(&engine, &order()).await.expect("replays");
    assert_eq!(first.into_value(), second.into_value());
}

#[tokio::test]
async fn a_caller_can_ask_what_it_was_and_since_when() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let (_, seen) = observed(bed.run(&engine, &order())).await;
    let seen = seen.expect("there was one");
    assert_eq!((seen.outcome, seen.is_replay(), &*seen.function), ("Executed", false, "bed"));
    bed.clock.advance(Duration::from_secs(5));
    let (answer, seen) = observed(bed.run(&engine, &order())).await;
    let seen = seen.expect("there was one");
    let replay = seen.replay.expect("a replay");
    assert_eq!(
        (seen.outcome, replay.stored_at, replay.source),
        ("Replayed", Some(START), ReplaySource::Store)
    );
    assert_eq!(replay.expires_at, START.plus(Policy::DEFAULT_EXPIRES_AFTER).ceil_seconds());
    assert_eq!(seen.record_id, bed.record().map(|record| record.id));
    assert!(matches!(answer, Ok(Outcome::Replayed(_, told)) if told == replay));
    assert_eq!(observed(async { 1 }).await, (1, None));
}

#[tokio::test]
async fn of_nested_calls_the_outermost_is_told() {
    let bed = Bed::new();
    let (inner, outer) = (bed.engine(Policy::new()), bed.engine(Policy::new()));
    let (first, second) = (json!({"id": 1}), json!({"id": 2}));
    bed.run(&inner, &first).await.expect("runs");
    let nested = outer.run(&second, |_| async {
        let (answer, seen) =
            observed(inner.run(&first, |_| async { Ok::<_, &'static str>(String::new()) })).await;
        assert!(seen.is_some_and(|seen| seen.is_replay()));
        answer.map(|answer| answer.into_value().unwrap_or_default()).map_err(RunError::flatten_str)
    });
    let (_, seen) = observed(nested).await;
    assert!(seen.is_some_and(|seen| !seen.is_replay() && seen.outcome == "Executed"));
}

trait FlattenStr {
    fn flatten_str(self) -> &'static str;
}

impl FlattenStr for RunError<&'static str> {
    fn flatten_str(self) -> &'static str {
        "failed"
    }
}

#[tokio::test]
async fn a_detached_call_is_seen_by_its_caller_too() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let input = order();
    for outcome in ["Executed", "Replayed"] {
        let (_, seen) = observed(engine.run_detached(&input, |_| async { Ok::<_, &'static str>(1) })).await;
        assert_eq!(seen.map(|seen| seen.outcome), Some(outcome));
    }
}

#[tokio::test]
async fn a_result_is_given_back_only_where_its_key_is() {
    for (policy, effect, is_given_back) in [
        (Policy::new(), false, true),
        (Policy::new(), true, false),
        (Policy::new().on_error(lambda_idempotency_core::OnError::Keep), false, false),
        (Policy::new().at_most_once(), false, false),
    ] {
        let bed = Bed::new();
        let engine = bed.engine(policy);
        let results = Typed::<u8, String>::new().store_if(|_| false);
        let input = order();
        let run = engine.run_with(&input, &results, |attempt| async move {
            if effect {
                attempt.effect_started();
            }
            Ok(1)
        });
        let (_, seen) = observed(bed.invoke(TIME, run)).await;
        assert_eq!(seen.map(|seen| seen.given_back), Some(is_given_back));
        assert_eq!(bed.record().is_none(), is_given_back);

        let failing = engine.run(&input, |_| async { Err::<u8, _>("no") });
        if is_given_back {
            let (_, seen) = observed(bed.invoke(TIME, failing)).await;
            assert_eq!(seen.map(|seen| (seen.outcome, seen.given_back)), Some(("FunctionFailed", true)));
        }
    }
}
