//! Requests that arrive long after their callers have given them up.

use std::future::ready;
use std::time::Duration;

use lambda_idempotency_core::testing::{Fault, Verb};
use lambda_idempotency_core::{Clock, Policy, Status};

use crate::deliveries::{Work, answer, deliver, delivery, finish, refused};
use crate::support::{Bed, TIME};

const AFTER_THE_LEASE: Duration = Duration::from_secs(33);

/// A result that arrives while a successor is at work is not the successor's.
#[tokio::test]
async fn a_completion_that_arrives_after_the_takeover_changes_nothing() {
    let bed = Bed::new();
    bed.store.break_next(Verb::Complete, Fault::Stray(AFTER_THE_LEASE + Duration::from_secs(1)));
    bed.store.break_next(Verb::Complete, Fault::Deny);
    let first = deliver(&bed, &Policy::new(), Work::Succeeds).await;
    assert_eq!(refused(&first), Some("NotRecorded"));
    bed.clock.advance(AFTER_THE_LEASE);
    let bed = &bed;
    let successor = delivery(bed, Policy::new(), TIME, Work::Succeeds, move |attempt| async move {
        assert!(attempt.is_takeover());
        bed.clock.advance(Duration::from_secs(2));
        // Whoever calls next finds what has arrived by now.
        let rival = deliver(bed, &Policy::new(), Work::Succeeds).await;
        assert_eq!((refused(&rival), bed.store.strays()), (Some("AlreadyInProgress"), 0), "{rival:?}");
    });
    let successor = finish(successor).await;
    assert_eq!(answer(&successor).map(String::as_str), Some("run-2"));
    let again = deliver(bed, &Policy::new(), Work::Succeeds).await;
    assert_eq!((answer(&again), bed.effects()), (answer(&successor), 2));
}

/// One that arrives before the takeover is the answer for everybody.
#[tokio::test]
async fn a_completion_that_arrives_late_but_in_time_is_the_answer() {
    let bed = Bed::new();
    bed.store.break_next(Verb::Complete, Fault::Stray(Duration::from_secs(10)));
    bed.store.break_next(Verb::Complete, Fault::Deny);
    let first = deliver(&bed, &Policy::new(), Work::Succeeds).await;
    assert_eq!(refused(&first), Some("NotRecorded"));
    bed.clock.advance(AFTER_THE_LEASE);
    let second = deliver(&bed, &Policy::new(), Work::Succeeds).await;
    assert_eq!((answer(&second).map(String::as_str), bed.effects()), (Some("run-1"), 1));
}

/// A release that arrives while a successor is at work does not give the successor's key away.
#[tokio::test]
async fn a_release_that_arrives_after_the_takeover_gives_nothing_back() {
    let bed = Bed::new();
    bed.store.break_next(Verb::Release, Fault::Stray(AFTER_THE_LEASE));
    deliver(&bed, &Policy::new(), Work::Fails).await;
    bed.clock.advance(AFTER_THE_LEASE - Duration::from_millis(500));
    let bed = &bed;
    let successor = delivery(bed, Policy::new(), TIME, Work::Succeeds, move |_| async move {
        bed.clock.advance(Duration::from_secs(2));
        let rival = deliver(bed, &Policy::new(), Work::Succeeds).await;
        assert_eq!((refused(&rival), bed.store.strays()), (Some("AlreadyInProgress"), 0), "{rival:?}");
    });
    assert_eq!(answer(&finish(successor).await).map(String::as_str), Some("run-2"));
}

/// A claim that arrives when its work is over and its key given back blocks others, but no longer than it
/// asked for: nobody is at work under it.
#[tokio::test]
async fn a_claim_that_arrives_after_its_work_blocks_no_longer_than_its_lease() {
    let bed = Bed::new();
    bed.store.break_next(Verb::Claim, Fault::Stray(Duration::from_secs(1)));
    deliver(&bed, &Policy::new(), Work::Fails).await;
    assert!(bed.record().is_none(), "the second try was released");
    bed.clock.advance(Duration::from_secs(2));
    let second = deliver(&bed, &Policy::new(), Work::Succeeds).await;
    assert_eq!((refused(&second), bed.effects()), (Some("AlreadyInProgress"), 1));
    bed.clock.advance(AFTER_THE_LEASE);
    let third = deliver(&bed, &Policy::new(), Work::Succeeds).await;
    assert_eq!((answer(&third).map(String::as_str), bed.effects()), (Some("run-2"), 2));
}

/// One that arrives when its own time is over is refused by what is there, or dead on arrival.
#[tokio::test]
async fn a_claim_that_arrives_after_its_lease_blocks_nobody() {
    for work in [Work::Fails, Work::Succeeds] {
        let bed = Bed::new();
        bed.store.break_next(Verb::Claim, Fault::Stray(AFTER_THE_LEASE));
        deliver(&bed, &Policy::new(), work).await;
        bed.clock.advance(AFTER_THE_LEASE + Duration::from_secs(1));
        let second = deliver(&bed, &Policy::new(), Work::Succeeds).await;
        let expected = if work == Work::Fails { "run-2" } else { "run-1" };
        assert_eq!(answer(&second).map(String::as_str), Some(expected), "{work:?}");
    }
}

/// A delay within the limit of a verb is nobody's business; the lease counts from the claim's sending.
#[tokio::test]
async fn a_claim_that_is_answered_late_leaves_less_time() {
    let bed = Bed::new();
    bed.store.break_next(Verb::Claim, Fault::Delay(Duration::from_secs(4)));
    let start = bed.clock.now();
    let run = delivery(&bed, Policy::new(), TIME, Work::Succeeds, |attempt| {
        assert_eq!(attempt.lease_end(), start.plus(TIME));
        assert_eq!(attempt.time_left(), TIME - Duration::from_secs(4));
        ready(())
    });
    assert!(answer(&finish(run).await).is_some());
    assert_eq!(bed.record().map(|record| record.status), Some(Status::Completed));
}
