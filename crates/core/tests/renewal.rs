//! A lease that is moved ahead while the function runs.

mod support;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use lambda_idempotency_core::testing::{Fault, ManualClock, Verb};
use lambda_idempotency_core::{Attempt, Clock, EpochMillis, Lease, Owner, Policy, Status};
use support::{Bed, START, order, refusal};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, yield_now};

fn policy() -> Policy {
    Policy::new().lease(Lease::renewed())
}

fn bed() -> Arc<Bed> {
    Arc::new(Bed::with_clock(ManualClock::held_at(START)))
}

/// Lets every task do what it can at this instant.
async fn settle() {
    for _ in 0..50 {
        yield_now().await;
    }
}

async fn pass(bed: &Bed, seconds: u64) {
    for _ in 0..seconds {
        bed.clock.advance(Duration::from_secs(1));
        settle().await;
    }
}

/// A worker that holds the record until it is told to end, and then says whether it knows its lease as lost.
async fn worker(bed: &Arc<Bed>) -> (JoinHandle<support::Ran>, oneshot::Sender<()>) {
    let (finish, finished) = oneshot::channel();
    let bed = Arc::clone(bed);
    let worker = tokio::spawn(async move {
        let work = |attempt: Attempt| async move {
            finished.await.expect("is sent");
            Ok(format!("lost: {}", attempt.is_lost()))
        };
        bed.engine(policy()).run(&order(), work).await
    });
    settle().await;
    (worker, finish)
}

fn lease_end(bed: &Bed) -> Option<i64> {
    bed.record().and_then(|record| record.lease_end).map(EpochMillis::get)
}

#[tokio::test]
async fn a_long_run_is_not_taken_over_and_a_crash_is_a_short_delay() {
    let bed = bed();
    let worker = tokio::spawn({
        let bed = Arc::clone(&bed);
        async move { bed.engine(policy()).run(&order(), |_| pending::<Result<String, &str>>()).await }
    });
    settle().await;
    pass(&bed, 600).await;
    assert_eq!(lease_end(&bed), Some(START.plus(Duration::from_secs(660)).get()));
    let engine = bed.engine(policy());
    assert!(refusal(bed.run(&engine, &order()).await).is_already_in_progress());

    worker.abort();
    settle().await;
    pass(&bed, 61).await;
    assert!(refusal(bed.run(&engine, &order()).await).is_already_in_progress());
    pass(&bed, 2).await;
    assert!(bed.run(&engine, &order()).await.is_ok());
}

#[tokio::test]
async fn the_record_outlives_its_renewed_lease() {
    let bed = bed();
    let short = policy().expires_after(Duration::from_secs(60));
    let _worker = tokio::spawn({
        let bed = Arc::clone(&bed);
        async move { bed.engine(short).run(&order(), |_| pending::<Result<String, &str>>()).await }
    });
    settle().await;
    pass(&bed, 300).await;
    let record = bed.record().expect("is there");
    let lease_end = record.lease_end.expect("has a lease");
    assert!(record.expiration.start() >= lease_end.plus(Policy::DEFAULT_MARGIN));
}

#[tokio::test]
async fn the_function_learns_that_its_lease_is_lost() {
    let bed = bed();
    let (tell, told) = oneshot::channel();
    let worker = tokio::spawn({
        let bed = Arc::clone(&bed);
        async move {
            let work = |attempt: Attempt| async move {
                assert!(!attempt.is_lost());
                attempt.lost().await;
                tell.send(attempt.is_lost()).expect("is awaited");
                Ok::<_, &'static str>("late".to_owned())
            };
            bed.engine(policy()).run(&order(), work).await
        }
    });
    settle().await;
    let mut stolen = bed.record().expect("is there");
    stolen.owner = Some(Owner::from_text("somebody else"));
    bed.store.inner().put(stolen);
    pass(&bed, 20).await;
    assert_eq!(told.await, Ok(true));
    let error = refusal(worker.await.expect("does not panic"));
    assert_eq!(error.name(), "LeaseLost");
}

#[tokio::test]
async fn a_renewal_that_fails_is_tried_again_before_the_lease_is_given_up() {
    let bed = bed();
    bed.store.break_next(Verb::Renew, Fault::ErrorBefore);
    bed.store.break_next(Verb::Renew, Fault::ReplyLost);
    let (worker, finish) = worker(&bed).await;
    pass(&bed, 70).await;
    assert_eq!(lease_end(&bed), Some(START.plus(Duration::from_secs(120)).get()));
    finish.send(()).expect("is awaited");
    let outcome = worker.await.expect("does not panic").expect("is recorded");
    assert_eq!(outcome.into_value().as_deref(), Some("lost: false"));
    assert_eq!(bed.record().map(|record| record.status), Some(Status::Completed));
}

#[tokio::test]
async fn a_renewal_that_was_applied_twice_is_not_a_lost_lease() {
    let bed = bed();
    bed.store.break_next(Verb::Renew, Fault::Duplicate);
    let (worker, finish) = worker(&bed).await;
    pass(&bed, 25).await;
    finish.send(()).expect("is awaited");
    assert_eq!(
        worker.await.expect("does not panic").expect("is recorded").into_value().as_deref(),
        Some("lost: false")
    );
}

#[tokio::test]
async fn with_at_most_once_the_deadline_moves_and_nobody_takes_over() {
    let bed = bed();
    let once = policy().at_most_once();
    let worker = tokio::spawn({
        let (bed, once) = (Arc::clone(&bed), once.clone());
        async move { bed.engine(once).run(&order(), |_| pending::<Result<String, &str>>()).await }
    });
    settle().await;
    pass(&bed, 300).await;
    let record = bed.record().expect("is there");
    assert_eq!(record.deadline, Some(START.plus(Duration::from_secs(360))));
    assert!(record.lease_end >= Some(record.expiration.end()), "others could take over: {record:?}");
    worker.abort();
    settle().await;
    pass(&bed, 63).await;
    assert_eq!(refusal(bed.run(&bed.engine(once), &order()).await).name(), "Interrupted");
    assert!(bed.clock.now() > START);
}

#[tokio::test]
async fn a_refused_renewal_that_cannot_be_checked_is_not_a_lost_lease_yet() {
    let bed = bed();
    bed.store.break_next(Verb::Renew, Fault::Duplicate);
    bed.store.break_next(Verb::Get, Fault::ErrorBefore);
    let (worker, finish) = worker(&bed).await;
    pass(&bed, 45).await;
    finish.send(()).expect("is awaited");
    let outcome = worker.await.expect("does not panic").expect("is recorded");
    assert_eq!(outcome.into_value().as_deref(), Some("lost: false"));
}
