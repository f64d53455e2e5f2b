//! Which results are answers for everybody, what a replay tells its caller, and work that continues other work.

use lambda_idempotency::{
    Attempt, Error, IdempotencyLayer, Key, Policy, ReplaySource, RunError, Typed, idempotent, model,
    observed, proxy,
};
use lambda_idempotency_tests::{Bench, NOW, TestResult, Work, name_of, on_both_stores, order};
use lambda_runtime::{Context, LambdaEvent};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tower::{Layer, ServiceExt, service_fn};

/// A response as typed code has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Response {
    #[serde(rename = "statusCode")]
    status_code: i64,
    body: Option<String>,
}

async fn a_response_that_asks_to_come_again_is_given_back(bench: Bench) -> TestResult {
    for (status, is_kept) in [
        (200, true),
        (201, true),
        (400, true),
        (404, true),
        (499, true),
        (429, false),
        (500, false),
        (503, false),
    ] {
        let work = Work::new();
        let engine = bench.engine("http", "status")?;
        let results = Typed::<Response, Error>::new().store_if(proxy::is_answer);
        let input = json!({"status": status});
        for _ in 0..2 {
            let run = engine.run_with(&input, &results, |_| async {
                work.run();
                Ok(Response { status_code: status, body: None })
            });
            assert_eq!(run.await?.into_value().map(|response| response.status_code), Some(status));
        }
        assert_eq!(work.runs(), if is_kept { 1 } else { 2 }, "{status}");
    }
    Ok(())
}

async fn after_a_503_the_next_attempt_is_real_and_its_200_replays(bench: Bench) -> TestResult {
    #[idempotent(key = "id", input = request, name = "http.create", store_if = proxy::is_answer)]
    async fn create(request: &Value, work: &Work) -> Result<Value, Error> {
        let status = if work.run() == 1 { 503 } else { 200 };
        Ok(json!({"statusCode": status}))
    }
    let (request, work) = (json!({"id": 1}), Work::new());
    for expected in [503, 200, 200] {
        assert_eq!(bench.run(create(&request, &work)).await?["statusCode"], expected);
    }
    assert_eq!(work.runs(), 2);
    Ok(())
}

async fn a_list_is_no_response_with_a_status(bench: Bench) -> TestResult {
    let work = Work::new();
    let engine = bench.engine("http", "@")?;
    let results = Typed::<Vec<u32>, Error>::new().store_if(proxy::is_answer);
    for _ in 0..2 {
        let run = engine.run_with(&1, &results, |_| async {
            work.run();
            Ok(vec![503])
        });
        assert_eq!(run.await?.into_value(), Some(vec![503]));
    }
    assert_eq!(work.runs(), 1);
    Ok(())
}

/// A 504 can have had its effect: without `store_if` it is an answer like any other.
async fn without_the_predicate_a_504_is_stored(bench: Bench) -> TestResult {
    #[idempotent(key = "id", input = request, name = "http.default")]
    async fn create(request: &Value, work: &Work) -> Result<Value, Error> {
        work.run();
        Ok(json!({"statusCode": 504}))
    }
    let (request, work) = (json!({"id": 1}), Work::new());
    for _ in 0..2 {
        assert_eq!(bench.run(create(&request, &work)).await?["statusCode"], 504);
    }
    assert_eq!(work.runs(), 1);
    Ok(())
}

async fn a_truncated_model_answer_is_paid_for_once(bench: Bench) -> TestResult {
    for answer in [
        json!({"type": "message", "stop_reason": "max_tokens", "content": [{"type": "text", "text": "Once"}]}),
        json!({"choices": [{"finish_reason": "length", "message": {"content": "Once"}}], "error": null}),
        json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "error": null}),
        json!({"stopReason": "max_tokens", "output": {"message": {"content": [{"text": "Once"}]}}}),
        json!({"stop_reason": "refusal"}),
        json!("plain text"),
        json!(["a text", "its usage"]),
        json!(["error", {"code": 1}, "queued"]),
    ] {
        let work = Work::new();
        let engine = bench.engine("model", "@")?;
        let results = Typed::<Value, Error>::new().store_if(model::is_answer);
        for outcome in ["Executed", "Replayed"] {
            let run = engine.run_with(&answer, &results, |_| async {
                work.run();
                Ok(answer.clone())
            });
            let run = run.await;
            assert_eq!(name_of(&run), outcome, "{answer}");
            assert_eq!(run?.into_value(), Some(answer.clone()));
        }
        assert_eq!(work.runs(), 1, "{answer}");
    }
    Ok(())
}

async fn what_is_no_answer_yet_is_asked_for_again(bench: Bench) -> TestResult {
    for answer in [
        json!({"type": "error", "error": {"type": "overloaded_error"}}),
        json!({"error": {"code": "server_error"}}),
        json!({"status": "queued"}),
        json!({"status": "in_progress", "error": null}),
    ] {
        let work = Work::new();
        let engine = bench.engine("model", "@")?;
        let results = Typed::<Value, Error>::new().store_if(model::is_answer);
        for _ in 0..2 {
            let run = engine.run_with(&answer, &results, |_| async {
                work.run();
                Ok(answer.clone())
            });
            run.await?;
        }
        assert_eq!(work.runs(), 2, "{answer}");
    }
    Ok(())
}

async fn a_caller_of_an_annotated_function_can_say_that_it_was_a_hit(bench: Bench) -> TestResult {
    #[idempotent(key = "id", input = job, name = "jobs.hit")]
    async fn summarise(job: &Value, work: &Work) -> Result<usize, Error> {
        Ok(work.run())
    }
    let (job, work) = (json!({"id": 1}), Work::new());
    for hit in [false, true, true] {
        let (summary, seen) = observed(bench.run(summarise(&job, &work))).await;
        let seen = seen.ok_or("nothing was seen")?;
        let answer = json!({"summary": summary?, "idempotency_hit": seen.is_replay()});
        assert_eq!(answer, json!({"summary": 1, "idempotency_hit": hit}));
        let source = seen.replay.map(|replay| (replay.stored_at, replay.source));
        assert_eq!(source, hit.then_some((Some(NOW), ReplaySource::Store)));
    }
    Ok(())
}

async fn a_continuation_under_a_new_key_knows_the_failure_it_continues(bench: Bench) -> TestResult {
    #[derive(Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
    #[error("the run failed")]
    struct Failed {
        run_id: String,
    }
    impl From<Error> for Failed {
        fn from(error: Error) -> Self {
            Self { run_id: format!("none: {}", error.name()) }
        }
    }
    #[idempotent(
        key = "[order, version]",
        input = order,
        name = "runs.continued",
        on_error = "store",
        previous = "[order, continues]"
    )]
    async fn submit(order: &Value, work: &Work) -> Result<String, Failed> {
        let run = work.run();
        let attempt = Attempt::current().ok_or_else(|| Failed { run_id: "no attempt".to_owned() })?;
        match attempt.previous() {
            None => Err(Failed { run_id: format!("run-{run}") }),
            Some(previous) => {
                let failed = previous.failure::<Failed>().ok().flatten();
                Ok(failed
                    .map_or_else(String::new, |failed| format!("run-{run} goes on from {}", failed.run_id)))
            }
        }
    }
    let work = Work::new();
    let first = json!({"order": 77, "version": 1});
    for _ in 0..2 {
        let failed = bench.run(submit(&first, &work)).await.err();
        assert_eq!(failed, Some(Failed { run_id: "run-1".to_owned() }));
    }
    let second = json!({"order": 77, "version": 2, "continues": 1});
    for _ in 0..2 {
        assert_eq!(bench.run(submit(&second, &work)).await?, "run-2 goes on from run-1");
    }
    assert_eq!(work.runs(), 2);
    Ok(())
}

async fn through_the_layer_a_replay_can_be_marked_and_stripped(bench: Bench) -> TestResult {
    let work = Work::new();
    let layer = IdempotencyLayer::<Value>::new(bench.store.clone(), Key::parse("order_id")?, Policy::new())?
        .clock(bench.clock.clone())
        .store_if(proxy::is_answer)
        .on_replay(|response, replay| {
            proxy::set_header(response, "x-idempotent-replayed", "true");
            proxy::remove_headers(response, &["set-cookie", "date"]);
            response["since"] = json!(replay.stored_at.map(|at| at.get()));
        });
    let handler = {
        let work = work.clone();
        service_fn(move |_: LambdaEvent<Value>| {
            let status = if work.run() == 1 { 503 } else { 201 };
            async move {
                Ok::<_, Error>(json!({
                    "statusCode": status,
                    "headers": {"Location": "/o/1", "Date": "today"},
                    "multiValueHeaders": {"Set-Cookie": ["a", "b"], "Link": ["x"]},
                    "cookies": ["c=1"],
                    "body": "x",
                }))
            }
        })
    };
    let service = layer.layer(handler);
    let call = async || -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let event = LambdaEvent::new(RawValue::from_string(order().to_string())?, Context::default());
        let answer = service.clone().oneshot(event).await.map_err(|error| error.error_message)?;
        Ok(serde_json::from_str(answer.get())?)
    };
    assert_eq!(call().await?["statusCode"], 503);
    let first = call().await?;
    assert_eq!((&first["statusCode"], first["headers"].get("x-idempotent-replayed")), (&json!(201), None));
    let second = call().await?;
    assert_eq!(
        second,
        json!({
            "statusCode": 201,
            "headers": {"Location": "/o/1"},
            "multiValueHeaders": {"Link": ["x"], "x-idempotent-replayed": ["true"]},
            "body": "x",
            "since": NOW.get(),
        })
    );
    assert_eq!(call().await?, second);
    assert_eq!(work.runs(), 2);
    Ok(())
}

async fn a_mismatch_carries_the_recorded_answer_for_those_who_ask(bench: Bench) -> TestResult {
    let engine = bench.engine("orders", "order_id")?;
    let work = |_| async { Ok::<_, Error>(json!({"run_id": "run-1"})) };
    engine.run(&order(), work).await?;
    let other = json!({"order_id": 77, "version": 4});
    let Err(RunError::Idempotency(Error::PayloadMismatch { stored, .. })) = engine.run(&other, work).await
    else {
        return Err("it is no mismatch".into());
    };
    assert_eq!(stored.expose(), Some(r#"{"run_id":"run-1"}"#));
    Ok(())
}

on_both_stores!(
    a_response_that_asks_to_come_again_is_given_back,
    after_a_503_the_next_attempt_is_real_and_its_200_replays,
    a_list_is_no_response_with_a_status,
    without_the_predicate_a_504_is_stored,
    a_truncated_model_answer_is_paid_for_once,
    what_is_no_answer_yet_is_asked_for_again,
    a_caller_of_an_annotated_function_can_say_that_it_was_a_hit,
    a_continuation_under_a_new_key_knows_the_failure_it_continues,
    through_the_layer_a_replay_can_be_marked_and_stripped,
    a_mismatch_carries_the_recorded_answer_for_those_who_ask,
);
