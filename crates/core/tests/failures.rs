//! What is kept of failures and of results that are no answer, and how replays are seen.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lambda_idempotency_core::testing::{Fault, Verb};
use lambda_idempotency_core::{OnError, Outcome, Policy, ResultMode, RunError, Status, Typed};
use serde::{Deserialize, Serialize};
use support::{Bed, TIME, order};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum PayError {
    Declined { code: String },
    Timeout,
}

fn declined() -> PayError {
    PayError::Declined { code: "insufficient_funds".to_owned() }
}

type Results = Typed<String, PayError>;

fn by_kind() -> Results {
    Typed::new().store_failures().on_error(|error| match error {
        PayError::Declined { .. } => OnError::Store,
        PayError::Timeout => OnError::Release,
    })
}

async fn pay(
    bed: &Bed,
    results: &Results,
    end: Result<(), PayError>,
) -> Result<Outcome<String>, RunError<PayError>> {
    let engine = bed.engine(Policy::new());
    let input = order();
    let work = engine.run_with(&input, results, |_| async {
        let effect = bed.effect();
        end.map(|()| effect)
    });
    bed.invoke(TIME, work).await
}

#[tokio::test]
async fn a_stored_failure_replays_as_the_same_error_without_an_effect() {
    let bed = Bed::new();
    let first = pay(&bed, &by_kind(), Err(declined())).await;
    assert!(matches!(&first, Err(RunError::Function(error)) if *error == declined()), "{first:?}");
    let second = pay(&bed, &by_kind(), Ok(())).await;
    assert!(matches!(&second, Err(RunError::Replayed(error, _)) if *error == declined()), "{second:?}");
    assert_eq!(bed.effects(), 1);
    assert_eq!(bed.record().map(|record| record.status), Some(Status::Failed));
}

#[tokio::test]
async fn the_classifier_gives_a_transient_failure_back() {
    let bed = Bed::new();
    assert!(pay(&bed, &by_kind(), Err(PayError::Timeout)).await.is_err());
    assert!(matches!(pay(&bed, &by_kind(), Ok(())).await, Ok(Outcome::Executed(_))));
    assert_eq!(bed.effects(), 2);
}

#[tokio::test]
async fn a_stored_failure_expires_like_a_result() {
    let bed = Bed::new();
    assert!(pay(&bed, &by_kind(), Err(declined())).await.is_err());
    bed.clock.advance(Policy::DEFAULT_EXPIRES_AFTER + Duration::from_secs(1));
    assert!(matches!(pay(&bed, &by_kind(), Ok(())).await, Ok(Outcome::Executed(_))));
}

#[tokio::test]
async fn a_failure_that_could_not_be_stored_is_still_the_functions_own_and_keeps_its_claim() {
    for fault in [Fault::Deny, Fault::ReplyLost] {
        let bed = Bed::new();
        bed.store.break_next(Verb::Complete, fault);
        let first = pay(&bed, &by_kind(), Err(declined())).await;
        assert!(
            matches!(&first, Err(RunError::Function(error)) if *error == declined()),
            "{fault:?}: {first:?}"
        );
        let second = pay(&bed, &by_kind(), Ok(())).await;
        assert!(second.is_err(), "{fault:?}: {second:?}");
        assert_eq!(bed.effects(), 1);
    }
}

#[tokio::test]
async fn a_function_that_stores_no_failures_does_not_run_over_a_stored_one() {
    let bed = Bed::new();
    assert!(pay(&bed, &by_kind(), Err(declined())).await.is_err());
    let before = bed.record();
    let answer = pay(&bed, &Typed::new(), Ok(())).await;
    let Err(RunError::Idempotency(error)) = answer else { panic!("{answer:?}") };
    assert_eq!(error.name(), "ReplayDecode");
    assert_eq!((bed.effects(), bed.record()), (1, before));
}

#[tokio::test]
async fn after_its_effect_has_started_a_failure_is_kept() {
    for panics in [false, true] {
        let bed = Arc::new(Bed::new());
        let worker = tokio::spawn({
            let bed = Arc::clone(&bed);
            async move {
                let engine = bed.engine(Policy::new());
                let input = order();
                let work = engine.run(&input, |attempt| async move {
                    attempt.effect_started();
                    assert!(!panics, "the function panics after its effect");
                    Err::<String, _>("half done")
                });
                bed.invoke(TIME, work).await
            }
        });
        assert_eq!(worker.await.is_err(), panics);
        let engine = bed.engine(Policy::new());
        assert!(support::refusal(bed.run(&engine, &order()).await).is_already_in_progress());
        bed.clock.advance(TIME + Duration::from_secs(3));
        assert!(matches!(bed.run(&engine, &order()).await, Ok(Outcome::Executed(_))));
    }
}

#[tokio::test]
async fn a_result_that_is_no_answer_is_given_back() {
    let bed = Bed::new();
    let results: Results = Typed::new().store_if(|value: &String| value != "run-1");
    assert_eq!(pay(&bed, &results, Ok(())).await.expect("runs"), Outcome::Executed("run-1".to_owned()));
    assert!(bed.record().is_none(), "{:?}", bed.record());
    assert_eq!(pay(&bed, &results, Ok(())).await.expect("runs"), Outcome::Executed("run-2".to_owned()));
    assert!(pay(&bed, &results, Ok(())).await.expect("replays").is_replayed());
    assert_eq!(bed.effects(), 2);
}

#[tokio::test]
async fn each_replay_is_seen_and_no_first_run() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    let bed = Bed::new();
    let results: Results = Typed::new().on_replay(|value, replay| {
        assert_eq!(value, "run-1");
        assert!(replay.expires_at.get() > 1_900_000_000);
        match SEEN.fetch_add(1, Ordering::SeqCst) {
            0 => Ok(()),
            _ => Err(PayError::Timeout),
        }
    });
    assert!(matches!(pay(&bed, &results, Ok(())).await, Ok(Outcome::Executed(_))));
    assert_eq!(SEEN.load(Ordering::SeqCst), 0);
    assert!(pay(&bed, &results, Ok(())).await.expect("replays").is_replayed());
    let before = bed.record();
    assert!(matches!(pay(&bed, &results, Ok(())).await, Err(RunError::Function(PayError::Timeout))));
    assert_eq!((SEEN.load(Ordering::SeqCst), bed.record()), (2, before));
}

#[tokio::test]
async fn a_compressed_result_replays_for_every_reader() {
    let bed = Bed::new();
    let long = "model answer ".repeat(10_000);
    let input = order();
    let run = |policy: Policy| {
        let (engine, input, long) = (bed.engine(policy), input.clone(), long.clone());
        async move { engine.run(&input, |_| async { Ok::<_, &'static str>(long) }).await }
    };
    let compressed = Policy::new().result_mode(ResultMode::Compressed);
    assert!(matches!(run(compressed).await, Ok(Outcome::Executed(_))));
    let record = bed.record().expect("is there");
    assert_eq!(record.encoding.as_deref(), Some("gzip"));
    assert!(record.data.as_ref().is_some_and(|data| data.len() < long.len() / 10));
    let replayed = run(Policy::new()).await.expect("replays");
    assert!(replayed.is_replayed());
    assert_eq!(replayed.into_value(), Some(long.clone()));

    let mut damaged = record;
    damaged.data = Some("AAAA".to_owned());
    bed.store.inner().put(damaged);
    assert_eq!(support::refusal(run(Policy::new()).await).name(), "ReplayDecode");
}

#[tokio::test]
async fn a_short_result_is_not_made_longer_by_compression() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().result_mode(ResultMode::Compressed));
    assert!(bed.run(&engine, &order()).await.is_ok());
    let record = bed.record().expect("is there");
    assert_eq!((record.data.as_deref(), record.encoding), (Some("\"run-1\""), None));
}

#[tokio::test]
async fn a_marker_says_that_the_work_is_done_and_nothing_else() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().result_mode(ResultMode::MarkerOnly));
    assert_eq!(bed.run(&engine, &order()).await.expect("runs"), Outcome::Executed("run-1".to_owned()));
    let record = bed.record().expect("is there");
    assert_eq!((record.data, record.encoding.as_deref()), (None, Some("omitted:7")));
    let error = support::refusal(bed.run(&engine, &order()).await);
    assert_eq!(error.name(), "ResultNotStored");
    assert_eq!(bed.effects(), 1);
}

#[tokio::test]
async fn a_refusal_inside_is_not_stored_as_the_failure_outside() {
    let bed = Arc::new(Bed::new());
    let inner = bed.engine(Policy::new());
    let outer = lambda_idempotency_core::Engine::new(
        "outer",
        Arc::clone(&bed.store),
        lambda_idempotency_core::Key::parse("id").expect("a key"),
    )
    .expect("an engine")
    .clock(bed.clock.clone());
    bed.die(&inner, &order()).await;
    let results: Typed<String, String> = Typed::new().store_failures();
    let call = |value: &'static str| {
        let (inner, outer, input) = (inner.clone(), outer.clone(), order());
        let results = &results;
        async move {
            let work = |_| async {
                let inside = inner.run(&order(), |_| async { Ok::<_, String>(value.to_owned()) }).await;
                inside
                    .map(|outcome| outcome.into_value().unwrap_or_default())
                    .map_err(|error| error.to_string())
            };
            outer.run_with(&input, results, work).await
        }
    };
    assert!(matches!(bed.invoke(TIME, call("1")).await, Err(RunError::Function(_))));
    bed.clock.advance(TIME + Duration::from_secs(3));
    assert_eq!(bed.invoke(TIME, call("2")).await.expect("runs"), Outcome::Executed("2".to_owned()));
}

#[tokio::test]
async fn at_most_once_keeps_the_claim_of_a_result_that_is_no_answer() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().at_most_once());
    let results: Results = Typed::new().store_if(|_| false);
    let input = order();
    let work = engine.run_with(&input, &results, |_| async { Ok(bed.effect()) });
    assert!(bed.invoke(TIME, work).await.is_ok());
    assert!(support::refusal(bed.run(&engine, &order()).await).is_already_in_progress());
    assert_eq!(bed.effects(), 1);
}

#[derive(Debug)]
struct NoWrites;

impl lambda_idempotency_core::Writes for NoWrites {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

#[tokio::test]
async fn writes_of_a_result_that_is_no_answer_are_not_lost_silently() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let results: Results = Typed::new().store_if(|_| false);
    let input = order();
    let kept = Arc::new(std::sync::Mutex::new(None));
    let work = engine.run_with(&input, &results, |attempt| async {
        attempt.commit_with(NoWrites).expect("the first writes");
        *kept.lock().expect("not poisoned") = Some(attempt);
        Ok(bed.effect())
    });
    match bed.invoke(TIME, work).await {
        Err(RunError::Idempotency(error)) => assert_eq!(error.name(), "Config"),
        other => panic!("{other:?}"),
    }
    let attempt = kept.lock().expect("not poisoned").take().expect("is kept");
    assert!(attempt.commit_with(NoWrites).is_err(), "the attempt has ended");
}

#[test]
fn our_error_is_found_wherever_it_is() {
    use lambda_idempotency_core::Error;
    let ours = || Error::Config { message: "x".to_owned() };
    let name = |error: &(dyn std::error::Error + 'static)| Error::find(error).map(Error::name);
    assert_eq!(name(&RunError::<String>::Idempotency(ours())), Some("Config"));
    assert_eq!(RunError::Function("declined").to_string(), "the function failed: declined");

    #[derive(Debug, thiserror::Error)]
    #[error("outside")]
    struct Boxed(#[source] Box<Error>);
    assert_eq!(name(&Boxed(Box::new(ours()))), Some("Config"));
}

#[tokio::test]
async fn writes_and_a_result_that_cannot_be_stored_are_neither_written() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let input = order();
    let work = engine.run(&input, |attempt| async move {
        attempt.commit_with(NoWrites).expect("the first writes");
        Ok::<_, &'static str>(f64::NAN)
    });
    match bed.invoke(TIME, work).await {
        Err(RunError::Idempotency(error)) => assert_eq!(error.name(), "NotRecorded"),
        other => panic!("{other:?}"),
    }
    assert!(bed.record().is_none(), "a replay would say that the work is done: {:?}", bed.record());
}

#[tokio::test]
async fn fail_open_keeps_what_the_function_says_is_to_be_kept() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().fail_open());
    bed.store.break_next(Verb::Claim, Fault::ReplyLost);
    bed.store.break_next(Verb::Claim, Fault::ReplyLost);
    bed.store.break_next(Verb::Release, Fault::ErrorBefore);
    let input = order();
    let work = engine.run(&input, |attempt| async move {
        attempt.effect_started();
        Err::<String, _>("half done")
    });
    assert!(matches!(bed.invoke(TIME, work).await, Err(RunError::Function("half done"))));
    assert!(support::refusal(bed.run(&engine, &order()).await).is_already_in_progress());
}

#[tokio::test]
async fn an_ambiguous_server_error_is_an_answer_unless_the_function_says_otherwise() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let input = order();
    for run in 0..2 {
        let response = serde_json::json!({"statusCode": 504});
        let work = engine.run(&input, |_| async { Ok::<_, &'static str>(response) });
        let outcome = bed.invoke(TIME, work).await.expect("is answered");
        assert_eq!(outcome.is_replayed(), run == 1);
    }
}

#[tokio::test]
async fn two_keys_with_one_body_are_two_pieces_of_work() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    for id in [1, 2, 1] {
        let input = serde_json::json!({"id": id, "instruction": "15s teaser"});
        assert!(bed.run(&engine, &input).await.is_ok());
    }
    assert_eq!(bed.effects(), 2);
}

#[tokio::test]
async fn a_token_is_one_for_a_step_through_crash_and_takeover() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let input = order();
    let note = |attempt: lambda_idempotency_core::Attempt| {
        let tokens: Vec<_> = ["batch", "mail"].into_iter().filter_map(|step| attempt.token(step)).collect();
        seen.lock().expect("not poisoned").push(tokens);
    };
    let mut dies = Box::pin(bed.invoke(
        TIME,
        engine.run(&input, |attempt| async {
            note(attempt);
            std::future::pending::<Result<String, &str>>().await
        }),
    ));
    while seen.lock().expect("not poisoned").is_empty() {
        assert!(futures_util::poll!(&mut dies).is_pending());
    }
    drop(dies);
    bed.clock.advance(TIME * 2);
    let again = engine.run(&input, |attempt| async {
        assert!(attempt.is_takeover());
        note(attempt);
        Ok::<_, &str>(String::new())
    });
    assert!(bed.invoke(TIME, again).await.is_ok());
    let seen = seen.lock().expect("not poisoned").clone();
    assert_eq!(seen[0], seen[1]);
    assert_ne!(seen[0][0], seen[0][1]);
    for token in &seen[0] {
        assert!(token.len() <= 64 && token.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{token}");
    }
}
