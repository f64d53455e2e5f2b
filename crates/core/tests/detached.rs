//! A guarded call in a task of its own.

mod support;

use std::sync::Arc;

use lambda_idempotency_core::testing::ManualClock;
use lambda_idempotency_core::{
    Attempt, Clock, Invocation, OnError, Outcome, Policy, RunError, Status, Typed, clock,
};
use support::{Bed, START, TIME, order, refusal};
use tokio::sync::oneshot;
use tokio::task::yield_now;

async fn settle() {
    for _ in 0..50 {
        yield_now().await;
    }
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_the_work_at_work() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let (end, ended) = oneshot::channel();
    let input = order();
    let run = engine.run_detached(&input, |_| async move {
        ended.await.expect("is told");
        Ok::<_, &'static str>("run-1".to_owned())
    });
    {
        let mut run = Box::pin(bed.invoke(TIME, run));
        assert!(futures_util::poll!(&mut run).is_pending());
    }
    settle().await;
    assert!(refusal(bed.run(&engine, &input).await).is_already_in_progress());
    end.send(()).expect("somebody is at work");
    settle().await;
    let again = bed.run(&engine, &input).await.expect("is answered");
    assert!(again.is_replayed());
    assert_eq!((again.into_value().as_deref(), bed.effects()), (Some("run-1"), 0));
}

#[tokio::test]
async fn it_ends_as_a_call_that_is_not_detached() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let fails = engine.run_detached(&order(), |_| async { Err::<String, _>("declined") });
    assert!(matches!(bed.invoke(TIME, fails).await, Err(RunError::Function("declined"))));
    let no_key =
        engine.run_detached(&serde_json::json!({}), |_| async { Ok::<_, &'static str>(String::new()) });
    assert_eq!(refusal(no_key.await).name(), "MissingKey");

    let panics = tokio::spawn(engine.run_detached(&order(), |attempt: Attempt| async move {
        assert!(attempt.is_lost(), "as the test says");
        Ok::<_, &'static str>(String::new())
    }));
    let panic = panics.await.expect_err("goes on").into_panic();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"as the test says"));
    assert!(bed.record().is_none(), "the key was given back");

    let runs = engine.run_detached(&order(), |_| async { Ok::<_, &'static str>("run-1".to_owned()) });
    assert_eq!(bed.invoke(TIME, runs).await.expect("runs"), Outcome::Executed("run-1".to_owned()));
}

#[tokio::test]
async fn the_task_knows_invocation_clock_and_the_work_around_it() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let task_clock: Arc<dyn Clock> = Arc::new(ManualClock::at(START.plus(TIME)));
    let run = engine.run_detached(&order(), |attempt| async move {
        let deadline = Invocation::current().deadline.instant();
        Ok::<_, String>((
            attempt.lease_end().get(),
            deadline.map(|at| at.get()),
            clock::current().now().get(),
        ))
    });
    let seen = clock::scope(task_clock, bed.invoke(TIME, run)).await.expect("runs").into_value();
    let deadline = START.plus(TIME).get();
    assert_eq!(seen, Some((deadline, Some(deadline), deadline)));
    let outside = engine
        .run_detached(&serde_json::json!({"id": 78}), |_| async { Ok::<_, String>(Invocation::is_set()) });
    assert_eq!(outside.await.expect("runs"), Outcome::Executed(false), "none is made up");
}

/// A detached call that is refused for now makes the failure around it none that could be stored.
#[tokio::test]
async fn the_work_around_it_learns_that_it_was_refused() {
    let bed = Bed::new();
    let (outer, inner) = (bed.engine(Policy::new()), bed.engine(Policy::new()));
    let results = Typed::<String, String>::new().store_failures().on_error(|_| OnError::Store);
    let other = serde_json::json!({"id": 78});
    let mut held =
        Box::pin(bed.invoke(TIME, inner.run(&other, |_| std::future::pending::<Result<(), String>>())));
    assert!(futures_util::poll!(&mut held).is_pending());
    let input = order();
    let work = outer.run_with(&input, &results, |_| async {
        let refused = inner.run_detached(&other, |_| async { Ok::<_, String>(()) }).await;
        Err(refused.expect_err("is busy").to_string())
    });
    assert!(bed.invoke(TIME, work).await.is_err());
    let failed = bed.store.inner().records().into_iter().any(|record| record.status == Status::Failed);
    assert!(!failed, "a refusal for now was stored as the answer");
}

#[test]
fn a_runtime_that_is_shut_down_ends_the_waiting() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let (first, second) = (runtime().expect("a runtime"), runtime().expect("a runtime"));
    let (begun, has_begun) = oneshot::channel();
    let waiting = {
        let _inside = first.enter();
        let run = engine.run_detached(&order(), |_| async {
            begun.send(()).expect("is awaited");
            std::future::pending::<Result<String, &'static str>>().await
        });
        let mut run = Box::pin(run);
        assert!(first.block_on(async { futures_util::poll!(&mut run) }).is_pending());
        run
    };
    first.block_on(has_begun).expect("begins");
    first.shutdown_background();
    assert_eq!(refusal(second.block_on(waiting)).name(), "Config");
    assert_eq!(bed.record().map(|record| record.status), Some(Status::InProgress));
}
