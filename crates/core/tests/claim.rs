//! Claims under faults and contradictions.

mod support;

use std::time::Duration;

use lambda_idempotency_core::key::RecordId;
use lambda_idempotency_core::testing::{Fault, ManualClock, Verb};
use lambda_idempotency_core::{
    ClaimAnswer, ClaimRequest, Clock, EpochMillis, Error, Lease, MissingKey, OnError, Outcome, Policy,
    RunError, Status, Store, StoreError, StoreErrorKind,
};
use serde_json::json;
use support::{Around, Bed, Paused, START, TIME, Wrapped, order, refusal};

#[tokio::test]
async fn a_resent_claim_recognises_itself_and_runs_once() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    bed.store.break_next(Verb::Claim, Fault::Duplicate);
    assert!(matches!(bed.run(&engine, &order()).await, Ok(Outcome::Executed(_))));
    assert_eq!(bed.effects(), 1);
}

#[tokio::test]
async fn when_the_reply_to_the_claim_is_lost_a_takeover_cannot_be_excluded() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    bed.store.break_next(Verb::Claim, Fault::Duplicate);
    let outcome = bed
        .invoke(TIME, engine.run(&order(), |attempt| async move { Ok::<_, &str>(attempt.is_takeover()) }))
        .await;
    assert_eq!(outcome.expect("runs"), Outcome::Executed(true));
}

/// The claim that was given back unheard can have replaced one that was abandoned.
#[tokio::test]
async fn after_a_claim_without_an_answer_a_takeover_cannot_be_excluded_either() {
    for policy in [Policy::new(), Policy::new().at_most_once()] {
        let bed = Bed::new();
        let engine = bed.engine(policy.clone());
        bed.store.break_next(Verb::Claim, Fault::ReplyLost);
        bed.store.break_next(Verb::Claim, Fault::ReplyLost);
        assert_eq!(refusal(bed.run(&engine, &order()).await).name(), "Store");
        // With at-most-once nothing is ever taken over, and a claim that is left would be nobody's for ever.
        let at_most_once = policy != Policy::new();
        assert_eq!(bed.record().is_some_and(|record| record.is_left()), !at_most_once);
        let input = order();
        let told = engine.run(&input, |attempt| async move { Ok::<_, &str>(attempt.is_takeover()) });
        assert_eq!(bed.invoke(TIME, told).await.expect("runs"), Outcome::Executed(!at_most_once));
    }
}

#[tokio::test]
async fn an_unreachable_store_refuses_by_default_and_nothing_runs() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    for (fault, retryable) in [(Fault::ErrorBefore, true), (Fault::Throttle, true), (Fault::Deny, false)] {
        // Both tries of the claim.
        bed.store.break_next(Verb::Claim, fault);
        bed.store.break_next(Verb::Claim, fault);
        let error = refusal(bed.run(&engine, &order()).await);
        assert_eq!((error.name(), error.is_retryable()), ("Store", retryable));
        bed.store.heal();
    }
    assert_eq!(bed.effects(), 0);
}

#[tokio::test]
async fn fail_open_runs_unprotected_at_the_claim_and_only_there() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().fail_open());
    bed.store.break_next(Verb::Complete, Fault::Deny);
    assert_eq!(refusal(bed.run(&engine, &order()).await).name(), "NotRecorded");
    bed.clock.advance(TIME * 2);
    bed.store.break_next(Verb::Claim, Fault::ErrorBefore);
    bed.store.break_next(Verb::Claim, Fault::ErrorBefore);
    assert_eq!(bed.run(&engine, &order()).await.expect("runs"), Outcome::Unprotected("run-2".to_owned()));
    // A right that is missing is not trouble that passes.
    bed.clock.advance(TIME * 2);
    bed.store.break_next(Verb::Claim, Fault::Deny);
    assert_eq!(refusal(bed.run(&engine, &json!({"id": 78})).await).name(), "Store");
}

#[tokio::test]
async fn an_event_without_the_key_runs_unprotected_where_the_policy_says_so() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().missing_key(MissingKey::RunUnprotected));
    for _ in 0..2 {
        let ran = bed.run(&engine, &json!({"no": "key"})).await.expect("runs");
        assert!(matches!(ran, Outcome::Unprotected(_)));
    }
    assert_eq!((bed.effects(), bed.store.calls().len()), (2, 0));
}

#[tokio::test]
async fn a_known_deadline_that_has_passed_is_refused_before_the_claim() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().lease(Lease::Fixed(TIME)));
    let input = order();
    let work = engine.run(&input, |_| async { Ok::<_, &str>(bed.effect()) });
    let error = match bed.invoke(Duration::ZERO, work).await {
        Err(RunError::Idempotency(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!((error.name(), error.is_retryable()), ("DeadlinePassed", true));
    assert_eq!((bed.effects(), bed.store.calls().len()), (0, 0));
}

#[tokio::test]
async fn without_a_deadline_the_lease_is_fifteen_minutes() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let lease_end = || bed.record().and_then(|record| record.lease_end).map(EpochMillis::get);
    let seen = engine.run(&order(), |_| async { Ok::<_, &str>(lease_end()) }).await;
    assert_eq!(seen.expect("runs").into_value().flatten(), Some(START.plus(Duration::from_secs(900)).get()));
}

#[tokio::test]
async fn a_fixed_lease_blocks_longer_than_the_deadline() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().lease(Lease::Fixed(Duration::from_secs(3600))));
    bed.die(&engine, &order()).await;
    bed.clock.advance(Duration::from_secs(3600));
    let error = refusal(bed.run(&engine, &order()).await);
    assert_eq!(error.retry_at(), Some(START.plus(Duration::from_millis(3_602_001))));
    bed.clock.advance(Duration::from_millis(2_001));
    assert!(matches!(bed.run(&engine, &order()).await, Ok(Outcome::Executed(_))));
}

#[tokio::test]
async fn a_deadline_and_extra_blocks_that_much_longer() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().lease(Lease::DeadlinePlus(Duration::from_secs(60))));
    bed.die(&engine, &order()).await;
    bed.clock.advance(TIME + Duration::from_secs(61));
    assert!(refusal(bed.run(&engine, &order()).await).is_already_in_progress());
    bed.clock.advance(Duration::from_secs(2));
    assert!(matches!(bed.run(&engine, &order()).await, Ok(Outcome::Executed(_))));
}

#[tokio::test]
async fn a_lease_longer_than_the_records_life_is_a_configuration_error() {
    let bed = Bed::new();
    let policy =
        Policy::new().lease(Lease::Fixed(Duration::from_secs(7200))).expires_after(Duration::from_secs(3600));
    let error = bed.engine(Policy::new()).policy(policy).expect_err("contradicts itself");
    assert_eq!(error.name(), "Config");
    let never_in_time =
        Policy::new().lease(Lease::Renewed { lease: Duration::from_secs(5), every: Duration::from_secs(5) });
    assert!(bed.engine(Policy::new()).policy(never_in_time).is_err());
}

#[tokio::test]
async fn a_reader_whose_clock_is_fast_takes_over_early_only_beyond_the_margin() {
    let bed = Bed::new();
    let ahead = |by: u64| {
        let clock = ManualClock::at(bed.clock.now().plus(TIME).minus(Duration::from_millis(1)));
        clock.advance(Duration::from_millis(by));
        bed.engine(Policy::new()).clock(std::sync::Arc::new(clock))
    };
    bed.die(&bed.engine(Policy::new()), &order()).await;
    // By the true clock the lease still holds for a millisecond.
    let late_reader = |engine: lambda_idempotency_core::Engine| async move {
        engine.run(&order(), |_| async { Ok::<_, &'static str>("taken".to_owned()) }).await
    };
    assert!(refusal(late_reader(ahead(2_000)).await).is_already_in_progress());
    assert!(matches!(late_reader(ahead(2_100)).await, Ok(Outcome::Executed(_))));
}

#[tokio::test]
async fn a_failure_that_keeps_its_claim_blocks_until_the_lease_has_passed() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().on_error(OnError::Keep));
    assert!(matches!(bed.fail(&engine, &order()).await, Err(RunError::Function("declined"))));
    assert!(refusal(bed.run(&engine, &order()).await).is_already_in_progress());
    bed.clock.advance(TIME + Duration::from_secs(3));
    assert!(matches!(bed.run(&engine, &order()).await, Ok(Outcome::Executed(_))));
}

#[tokio::test]
async fn at_most_once_answers_an_abandoned_claim_with_interrupted_until_it_expires() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().at_most_once().expires_after(Duration::from_secs(600)));
    bed.die(&engine, &order()).await;
    assert!(refusal(bed.run(&engine, &order()).await).is_already_in_progress());
    bed.clock.advance(TIME + Duration::from_secs(3));
    let error = refusal(bed.run(&engine, &order()).await);
    assert_eq!((error.name(), error.is_retryable()), ("Interrupted", false));
    // Also to a caller whose policy is the ordinary one: the switch protects the record.
    assert_eq!(refusal(bed.run(&bed.engine(Policy::new()), &order()).await).name(), "Interrupted");
    assert_eq!(bed.effects(), 1);
    bed.clock.advance(Duration::from_secs(600));
    assert!(matches!(bed.run(&engine, &order()).await, Ok(Outcome::Executed(_))));
}

#[tokio::test]
async fn at_most_once_keeps_the_claim_of_a_failure() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().at_most_once());
    assert!(bed.fail(&engine, &order()).await.is_err());
    bed.clock.advance(TIME + Duration::from_secs(3));
    assert_eq!(refusal(bed.run(&engine, &order()).await).name(), "Interrupted");
    assert_eq!(bed.effects(), 1);
}

/// A store that always refuses for a record which could be claimed.
#[derive(Debug)]
struct Contradictory {
    then_gone: bool,
}

#[async_trait::async_trait]
impl lambda_idempotency_core::Store for Contradictory {
    async fn claim(
        &self,
        request: &lambda_idempotency_core::ClaimRequest,
    ) -> Result<lambda_idempotency_core::ClaimAnswer, lambda_idempotency_core::StoreError> {
        use lambda_idempotency_core::ClaimAnswer::{Refused, Vanished};
        let mut record = request.record();
        record.owner = None;
        record.expiration = lambda_idempotency_core::EpochSeconds::new(0);
        Ok(if self.then_gone { Vanished } else { Refused { record, now: request.now } })
    }
    async fn complete(
        &self,
        _: &lambda_idempotency_core::CompleteRequest,
    ) -> Result<lambda_idempotency_core::CompleteAnswer, lambda_idempotency_core::StoreError> {
        Err(lambda_idempotency_core::StoreError::new(StoreErrorKind::Other, "must not be called"))
    }
    async fn release(
        &self,
        _: &lambda_idempotency_core::ReleaseRequest,
    ) -> Result<lambda_idempotency_core::ReleaseAnswer, lambda_idempotency_core::StoreError> {
        Err(lambda_idempotency_core::StoreError::new(StoreErrorKind::Other, "must not be called"))
    }
    async fn renew(
        &self,
        _: &lambda_idempotency_core::RenewRequest,
    ) -> Result<lambda_idempotency_core::RenewAnswer, lambda_idempotency_core::StoreError> {
        Err(lambda_idempotency_core::StoreError::new(StoreErrorKind::Other, "must not be called"))
    }
    async fn get(
        &self,
        _: &RecordId,
        now: EpochMillis,
    ) -> Result<lambda_idempotency_core::Reading, lambda_idempotency_core::StoreError> {
        Ok(lambda_idempotency_core::Reading { record: None, now })
    }
}

#[tokio::test]
async fn a_store_that_contradicts_itself_is_asked_three_times_and_nothing_runs() {
    for then_gone in [false, true] {
        let bed = Bed::new();
        let engine = lambda_idempotency_core::Engine::new(
            "bed",
            Contradictory { then_gone },
            lambda_idempotency_core::Key::parse("id").expect("a key"),
        )
        .expect("an engine")
        .clock(bed.clock.clone());
        let error = refusal(bed.run(&engine, &order()).await);
        assert!(matches!(error, Error::InconsistentState { tries: 3, .. }), "{error}");
        assert!(error.is_retryable());
        assert_eq!(bed.effects(), 0);
    }
}

#[tokio::test]
async fn a_record_that_expires_between_refusal_and_judgement_is_claimed_again() {
    // The refused claim carries the instant of its condition, so the judgement cannot differ; what
    // expires afterwards is claimed by the next attempt, by the same comparison.
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().expires_after(Duration::from_secs(1)));
    assert!(bed.run(&engine, &order()).await.is_ok());
    let record = bed.record().expect("is there");
    bed.clock.set(record.expiration.end().minus(Duration::from_millis(1)));
    assert!(bed.run(&engine, &order()).await.expect("replays").is_replayed());
    bed.clock.set(record.expiration.end());
    assert!(matches!(bed.run(&engine, &order()).await, Ok(Outcome::Executed(_))));
    assert_eq!(bed.record().map(|record| record.status), Some(Status::Completed));
}

/// A store that answers a claim only after its lease has ended.
#[derive(Debug)]
struct Slow(std::sync::Arc<Parts>);

type Parts = (lambda_idempotency_core::MemoryStore, std::sync::Arc<ManualClock>);

#[async_trait::async_trait]
impl Around for Slow {
    fn inner(&self) -> &lambda_idempotency_core::MemoryStore {
        &self.0.0
    }
    async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
        let answer = self.0.0.claim(request).await;
        self.0.1.advance(Duration::from_secs(3));
        answer
    }
}

#[tokio::test]
async fn work_does_not_start_when_the_lease_ended_before_the_claims_answer() {
    let bed = Bed::new();
    let memory = lambda_idempotency_core::MemoryStore::new();
    let slow = std::sync::Arc::new((memory, bed.clock.clone()));
    let engine = lambda_idempotency_core::Engine::new(
        "bed",
        Wrapped(Slow(slow.clone())),
        lambda_idempotency_core::Key::parse("id").expect("a key"),
    )
    .and_then(|engine| engine.policy(Policy::new().lease(Lease::Fixed(Duration::from_secs(2)))))
    .expect("an engine")
    .clock(bed.clock.clone());
    let error = refusal(bed.run(&engine, &order()).await);
    assert_eq!((error.name(), error.is_retryable()), ("DeadlinePassed", true));
    assert_eq!((bed.effects(), slow.0.records().len()), (0, 0));
}

#[tokio::test]
async fn a_claim_whose_answers_are_lost_does_not_block_its_own_retry() {
    for policy in [Policy::new(), Policy::new().at_most_once()] {
        let bed = Bed::new();
        let engine = bed.engine(policy);
        bed.store.break_next(Verb::Claim, Fault::ReplyLost);
        bed.store.break_next(Verb::Claim, Fault::ReplyLost);
        assert_eq!(refusal(bed.run(&engine, &order()).await).name(), "Store");
        assert_eq!(bed.effects(), 0);
        assert!(matches!(bed.run(&engine, &order()).await, Ok(Outcome::Executed(_))), "it blocks itself");
    }
}

#[tokio::test]
async fn a_claim_whose_answer_is_lost_once_runs() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    bed.store.break_next(Verb::Claim, Fault::ReplyLost);
    assert!(matches!(bed.run(&engine, &order()).await, Ok(Outcome::Executed(_))));
}

#[tokio::test]
async fn what_ran_fail_open_is_recorded_where_the_store_takes_it() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().fail_open());
    for fault in [Fault::ReplyLost, Fault::ErrorBefore] {
        bed.store.break_next(Verb::Claim, fault);
        bed.store.break_next(Verb::Claim, fault);
    }
    // The claim was applied, unanswered, and could not be given back.
    bed.store.break_next(Verb::Release, Fault::ErrorBefore);
    assert!(matches!(bed.run(&engine, &order()).await, Ok(Outcome::Unprotected(_))));
    bed.store.heal();
    assert!(bed.run(&engine, &order()).await.expect("replays").is_replayed());
    assert_eq!(bed.effects(), 1);
}

#[tokio::test]
async fn contradictory_policies_are_refused() {
    let hour = Duration::from_secs(3600);
    for policy in [
        Policy::new().at_most_once().fail_open(),
        Policy::new().at_most_once().missing_key(MissingKey::RunUnprotected),
        Policy::new().expires_after(Duration::ZERO),
        Policy::new().lease(Lease::Fixed(Duration::ZERO)),
        Policy::new().store_timeout(Duration::ZERO),
        Policy::new().margin(hour * 2),
    ] {
        let error = Bed::new().engine(Policy::new()).policy(policy.clone()).expect_err("contradicts itself");
        assert_eq!(error.name(), "Config", "{policy:?}");
    }
}

/// A store that never answers.
#[derive(Debug)]
struct Silent;

#[async_trait::async_trait]
impl lambda_idempotency_core::Store for Silent {
    async fn claim(
        &self,
        _: &lambda_idempotency_core::ClaimRequest,
    ) -> Result<lambda_idempotency_core::ClaimAnswer, lambda_idempotency_core::StoreError> {
        std::future::pending().await
    }
    async fn complete(
        &self,
        _: &lambda_idempotency_core::CompleteRequest,
    ) -> Result<lambda_idempotency_core::CompleteAnswer, lambda_idempotency_core::StoreError> {
        std::future::pending().await
    }
    async fn release(
        &self,
        _: &lambda_idempotency_core::ReleaseRequest,
    ) -> Result<lambda_idempotency_core::ReleaseAnswer, lambda_idempotency_core::StoreError> {
        std::future::pending().await
    }
    async fn renew(
        &self,
        _: &lambda_idempotency_core::RenewRequest,
    ) -> Result<lambda_idempotency_core::RenewAnswer, lambda_idempotency_core::StoreError> {
        std::future::pending().await
    }
    async fn get(
        &self,
        _: &RecordId,
        _: EpochMillis,
    ) -> Result<lambda_idempotency_core::Reading, lambda_idempotency_core::StoreError> {
        std::future::pending().await
    }
}

/// Time itself is paused here: the timers run as soon as nothing else can.
#[tokio::test(start_paused = true)]
async fn a_store_that_never_answers_is_reported_before_the_deadline() {
    for left in [100, 400, 1_000, 2_000, 2_700, 3_000, 60_000] {
        let clock = std::sync::Arc::new(Paused::new());
        let key = lambda_idempotency_core::Key::parse("id").expect("a key");
        let engine = lambda_idempotency_core::Engine::new("bed", Silent, key).expect("an engine");
        let engine = engine.clock(clock.clone());
        let left = Duration::from_millis(left);
        let deadline = lambda_idempotency_core::decide::Deadline::At(clock.now().plus(left));
        let input = order();
        let work = engine.run(&input, |_| async { Ok::<String, &'static str>(String::new()) });
        let ran = lambda_idempotency_core::Invocation::new(deadline).scope(work).await;
        let took = clock.elapsed();
        match ran {
            Err(RunError::Idempotency(error)) => assert_eq!(error.name(), "Store"),
            other => panic!("{other:?}"),
        }
        assert!(took < left, "with {left:?} left the error came after {took:?}");
        assert!(took < Duration::from_secs(11), "with {left:?} left the error came after {took:?}");
    }
}

/// The answer to the other content is at hand for whoever has to sort the two out, and nowhere else.
#[tokio::test]
async fn a_mismatch_carries_the_recorded_answer_out_of_sight() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let other = serde_json::json!({"id": 77, "instruction": "30s teaser"});
    bed.run(&engine, &order()).await.expect("runs");
    let error = refusal(bed.run(&engine, &other).await);
    let Error::PayloadMismatch { status, stored, .. } = &error else { panic!("{error:?}") };
    assert_eq!((*status, stored.expose()), (Status::Completed, Some("\"run-1\"")));
    assert!(!format!("{error:?} {error}").contains("run-1"), "{error:?}");

    // While the first is at work there is none.
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    bed.die(&engine, &order()).await;
    let error = refusal(bed.run(&engine, &other).await);
    let Error::PayloadMismatch { status, stored, .. } = &error else { panic!("{error:?}") };
    assert_eq!((*status, stored.expose()), (Status::InProgress, None));
}
