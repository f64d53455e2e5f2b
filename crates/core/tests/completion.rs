//! What becomes of a result that the store does not take at once, or at all.

mod support;

use lambda_idempotency_core::testing::{Fault, Verb};
use lambda_idempotency_core::{Outcome, Policy, Status};
use support::{Bed, order, refusal};

#[tokio::test]
async fn a_completion_is_tried_again_while_time_is_left() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    for fault in [Fault::ErrorBefore, Fault::Throttle, Fault::ReplyLost] {
        bed.store.break_next(Verb::Complete, fault);
    }
    let outcome = bed.run(&engine, &order()).await.expect("is recorded in the end");
    assert_eq!(outcome, Outcome::Executed("run-1".to_owned()));
    assert_eq!(bed.run(&engine, &order()).await.expect("replays").into_value().as_deref(), Some("run-1"));
    assert_eq!(bed.effects(), 1);
}

#[tokio::test]
async fn a_result_that_cannot_be_recorded_is_carried_by_the_error_and_the_claim_stays() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    for _ in 0..1_000 {
        bed.store.break_next(Verb::Complete, Fault::ErrorBefore);
    }
    let error = refusal(bed.run(&engine, &order()).await);
    assert_eq!(error.name(), "NotRecorded");
    assert!(error.is_retryable());
    assert!(bed.clock_is_past_the_deadline(), "it gave up before its time was over");
    let lambda_idempotency_core::Error::NotRecorded { value, .. } = &error else { panic!("{error}") };
    assert_eq!(value.expose(), Some("\"run-1\""));
    assert!(!format!("{error:?} {error}").contains("run-1"), "the result is in the message: {error:?}");
    assert_eq!(bed.record().map(|record| record.status), Some(Status::InProgress));
    assert!(!bed.store.calls().contains(&Verb::Release), "the claim was released");
}

impl Bed {
    /// To within the longest pause between two tries.
    fn clock_is_past_the_deadline(&self) -> bool {
        use lambda_idempotency_core::Clock;
        self.clock.now() >= support::START.plus(support::TIME).minus(std::time::Duration::from_secs(2))
    }
}

#[tokio::test]
async fn an_error_that_no_retry_mends_is_not_tried_again() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    bed.store.break_next(Verb::Complete, Fault::Deny);
    assert_eq!(refusal(bed.run(&engine, &order()).await).name(), "NotRecorded");
    assert_eq!(bed.store.calls(), [Verb::Claim, Verb::Complete]);
}

#[tokio::test]
async fn a_duplicated_completion_is_one_completion() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    bed.store.break_next(Verb::Complete, Fault::Duplicate);
    assert!(matches!(bed.run(&engine, &order()).await, Ok(Outcome::Executed(_))));
    assert!(bed.run(&engine, &order()).await.expect("replays").is_replayed());
}

#[tokio::test]
async fn the_functions_own_error_is_never_hidden_by_a_release_that_fails() {
    for fault in [Fault::ErrorBefore, Fault::ReplyLost, Fault::Deny, Fault::Duplicate] {
        let bed = Bed::new();
        let engine = bed.engine(Policy::new());
        bed.store.break_next(Verb::Release, fault);
        let ran = bed.fail(&engine, &order()).await;
        assert!(
            matches!(ran, Err(lambda_idempotency_core::RunError::Function("declined"))),
            "{fault:?}: {ran:?}"
        );
    }
}
