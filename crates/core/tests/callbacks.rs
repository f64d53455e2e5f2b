//! Callbacks about results that panic: by then the function has run.

mod support;

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use lambda_idempotency_core::testing::{Fault, Verb};
use lambda_idempotency_core::{Error, OnError, Outcome, Policy, RunError, Status, Typed};
use serde::{Deserialize, Serialize, Serializer};
use support::{Bed, TIME, order, refusal};

type Results = Typed<String, &'static str>;

/// Whether a delivery with these callbacks panics, after an effect that ends like this.
async fn panics(bed: &Bed, policy: Policy, results: &Results, end: Result<(), &'static str>) -> bool {
    let (engine, input) = (bed.engine(policy), order());
    let work = engine.run_with(&input, results, |_| async {
        end.map(|()| bed.effect()).inspect_err(|_| drop(bed.effect()))
    });
    AssertUnwindSafe(bed.invoke(TIME, work)).catch_unwind().await.is_err()
}

#[tokio::test]
async fn store_if_that_panics_keeps_the_claim_of_what_is_done() {
    for policy in [Policy::new(), Policy::new().on_error(OnError::Release), Policy::new().fail_open()] {
        let bed = Bed::new();
        let engine = bed.engine(policy.clone());
        assert!(panics(&bed, policy, &Results::new().store_if(|_| panic!("store_if")), Ok(())).await);
        assert!(refusal(bed.run(&engine, &order()).await).is_already_in_progress(), "the effect is there");
        bed.clock.advance(TIME + Policy::DEFAULT_MARGIN + Policy::DEFAULT_MARGIN);
        assert_eq!(
            bed.run(&engine, &order()).await.expect("takes over"),
            Outcome::Executed("run-2".to_owned())
        );
    }
}

#[tokio::test]
async fn on_error_that_panics_keeps_the_claim_of_what_may_be_done() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    assert!(
        panics(&bed, Policy::new(), &Results::new().on_error(|_| panic!("on_error")), Err("declined")).await
    );
    assert!(refusal(bed.run(&engine, &order()).await).is_already_in_progress());
    bed.clock.advance(TIME + Policy::DEFAULT_MARGIN + Policy::DEFAULT_MARGIN);
    assert!(bed.run(&engine, &order()).await.is_ok());
}

#[tokio::test]
async fn on_replay_that_panics_leaves_the_answer_as_it_is() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let first = bed.run(&engine, &order()).await.expect("runs").into_value();
    let before = bed.record();
    assert!(panics(&bed, Policy::new(), &Results::new().on_replay(|_, _| panic!("on_replay")), Ok(())).await);
    assert_eq!((bed.record(), bed.effects()), (before, 1));
    assert_eq!(bed.run(&engine, &order()).await.expect("is answered").into_value(), first);
}

/// A claim without an answer, fail-open, and then a callback that panics: the claim may be there.
#[tokio::test]
async fn a_callback_that_panics_after_an_unanswered_claim_keeps_it_as_well() {
    let store_if = Results::new().store_if(|_| panic!("store_if"));
    let on_error = Results::new().on_error(|_| panic!("on_error"));
    for (results, end) in [(store_if, Ok(())), (on_error, Err("declined"))] {
        let bed = Bed::new();
        bed.store.break_next(Verb::Claim, Fault::ReplyLost);
        bed.store.break_next(Verb::Claim, Fault::ReplyLost);
        bed.store.break_next(Verb::Release, Fault::ErrorBefore);
        assert!(panics(&bed, Policy::new().fail_open(), &results, end).await);
        let engine = bed.engine(Policy::new());
        assert!(refusal(bed.run(&engine, &order()).await).is_already_in_progress(), "{end:?}");
    }
}

/// Its JSON form panics.
#[derive(Debug, Deserialize)]
struct Unspeakable;

impl Serialize for Unspeakable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("serialize")
    }
}

#[tokio::test]
async fn a_result_whose_json_form_panics_is_recorded_as_done() {
    let bed = Bed::new();
    let (engine, input) = (bed.engine(Policy::new()), order());
    let run = || {
        let work = |_| async {
            bed.effect();
            Ok::<_, &'static str>(Unspeakable)
        };
        AssertUnwindSafe(bed.invoke(TIME, engine.run(&input, work))).catch_unwind()
    };
    assert!(run().await.is_err(), "the panic goes on");
    assert_eq!(bed.record().map(|record| record.status), Some(Status::Completed));
    match run().await.expect("does not panic") {
        Err(RunError::Idempotency(Error::ResultNotStored { .. })) => assert_eq!(bed.effects(), 1),
        other => panic!("{other:?}"),
    }
}
