//! Waiting for the attempt that is at work, and skipping.

mod support;

use std::sync::Arc;
use std::time::Duration;

use lambda_idempotency_core::testing::{Fault, ManualClock, Verb};
use lambda_idempotency_core::{Clock, InProgress, Outcome, Policy, RunError};
use support::{Bed, START, TIME, order, refusal};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, yield_now};

fn waiting(seconds: u64) -> Policy {
    Policy::new().in_progress(InProgress::Wait(Duration::from_secs(seconds)))
}

async fn settle() {
    for _ in 0..50 {
        yield_now().await;
    }
}

async fn pass(bed: &Bed, by: Duration) {
    let until = bed.clock.now().plus(by);
    while bed.clock.now() < until {
        bed.clock.advance(Duration::from_millis(10));
        settle().await;
    }
}

/// A worker that holds the record until it is told how to end.
fn first(bed: &Arc<Bed>) -> (JoinHandle<support::Ran>, oneshot::Sender<Result<(), &'static str>>) {
    let (end, ended) = oneshot::channel();
    let bed = Arc::clone(bed);
    let worker = tokio::spawn(async move {
        let input = order();
        let engine = bed.engine(Policy::new());
        let work = engine.run(&input, |_| async {
            let effect = bed.effect();
            ended.await.expect("is told")?;
            Ok(effect)
        });
        bed.invoke(TIME, work).await
    });
    (worker, end)
}

fn second(bed: &Arc<Bed>, policy: Policy, time: Duration) -> JoinHandle<support::Ran> {
    let bed = Arc::clone(bed);
    tokio::spawn(async move {
        let input = order();
        let engine = bed.engine(policy);
        bed.invoke(time, engine.run(&input, |_| async { Ok(bed.effect()) })).await
    })
}

fn bed() -> Arc<Bed> {
    Arc::new(Bed::with_clock(ManualClock::held_at(START)))
}

#[tokio::test]
async fn who_waits_gets_the_first_ones_answer() {
    let bed = bed();
    let (first, end) = first(&bed);
    settle().await;
    let second = second(&bed, waiting(10), TIME);
    pass(&bed, Duration::from_millis(400)).await;
    assert!(!second.is_finished());
    end.send(Ok(())).expect("is awaited");
    pass(&bed, Duration::from_secs(1)).await;
    let answer = second.await.expect("does not panic").expect("is answered");
    assert!(answer.is_replayed());
    assert_eq!(answer.into_value(), first.await.expect("does not panic").expect("runs").into_value());
    assert_eq!(bed.effects(), 1);
}

#[tokio::test]
async fn each_look_is_one_read() {
    let bed = bed();
    let (_first, end) = first(&bed);
    settle().await;
    let second = second(&bed, waiting(10), TIME);
    pass(&bed, Duration::from_millis(350)).await;
    end.send(Ok(())).expect("is awaited");
    pass(&bed, Duration::from_secs(1)).await;
    assert!(second.await.expect("does not panic").is_ok());
    let calls = bed.store.calls();
    let count = |verb| calls.iter().filter(|call| **call == verb).count();
    assert_eq!((count(Verb::Claim), count(Verb::Complete)), (2, 1), "{calls:?}");
    assert!((2..=6).contains(&count(Verb::Get)), "{calls:?}");
}

#[tokio::test]
async fn patience_ends_and_the_work_is_still_in_progress() {
    let bed = bed();
    let (_first, _end) = first(&bed);
    settle().await;
    let second = second(&bed, waiting(3), TIME);
    pass(&bed, Duration::from_millis(2_900)).await;
    assert!(!second.is_finished());
    pass(&bed, Duration::from_millis(200)).await;
    let error = refusal(second.await.expect("does not panic"));
    assert!(error.is_already_in_progress());
    assert_eq!(bed.effects(), 1);
}

#[tokio::test]
async fn waiting_ends_before_the_own_deadline() {
    let bed = bed();
    let (_first, _end) = first(&bed);
    settle().await;
    let second = second(&bed, waiting(60), Duration::from_secs(2));
    pass(&bed, Duration::from_millis(1_900)).await;
    assert!(second.is_finished(), "it waits into its deadline");
    assert!(refusal(second.await.expect("does not panic")).is_already_in_progress());
}

#[tokio::test]
async fn who_waits_takes_over_when_the_first_one_fails() {
    let bed = bed();
    let (first, end) = first(&bed);
    settle().await;
    let second = second(&bed, waiting(10), TIME);
    pass(&bed, Duration::from_millis(200)).await;
    end.send(Err("declined")).expect("is awaited");
    pass(&bed, Duration::from_secs(2)).await;
    assert!(matches!(first.await.expect("does not panic"), Err(RunError::Function("declined"))));
    assert_eq!(second.await.expect("does not panic").expect("runs"), Outcome::Executed("run-2".to_owned()));
}

#[tokio::test]
async fn who_waits_takes_over_when_the_first_one_has_died() {
    let bed = bed();
    let (first, _end) = first(&bed);
    settle().await;
    first.abort();
    let second = second(&bed, waiting(60), TIME * 4);
    pass(&bed, TIME + Policy::DEFAULT_MARGIN + Duration::from_secs(2)).await;
    assert_eq!(second.await.expect("does not panic").expect("runs"), Outcome::Executed("run-2".to_owned()));
}

#[tokio::test]
async fn work_in_progress_is_skipped_where_the_policy_says_so() {
    let bed = bed();
    let (first, end) = first(&bed);
    settle().await;
    let skipping = || Policy::new().in_progress(InProgress::Skip);
    let tick = second(&bed, skipping(), TIME).await.expect("does not panic").expect("succeeds");
    assert_eq!(tick, Outcome::Skipped);
    assert_eq!(bed.effects(), 1);
    end.send(Ok(())).expect("is awaited");
    assert!(first.await.expect("does not panic").is_ok());
    // Not in progress any more: the answer is there.
    assert!(second(&bed, skipping(), TIME).await.expect("does not panic").expect("succeeds").is_replayed());
}

#[tokio::test]
async fn a_store_that_is_away_for_a_moment_does_not_end_the_wait() {
    for policy in [waiting(10), waiting(10).fail_open()] {
        let bed = bed();
        let (first, end) = first(&bed);
        settle().await;
        for _ in 0..3 {
            bed.store.break_next(Verb::Get, Fault::ErrorBefore);
        }
        let second = second(&bed, policy, TIME);
        pass(&bed, Duration::from_secs(1)).await;
        assert!(!second.is_finished(), "it gave up, or ran beside the first one");
        end.send(Ok(())).expect("is awaited");
        pass(&bed, Duration::from_secs(2)).await;
        assert!(second.await.expect("does not panic").expect("is answered").is_replayed());
        assert!(first.await.expect("does not panic").is_ok());
        assert_eq!(bed.effects(), 1);
    }
}
