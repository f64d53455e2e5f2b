//! What the log warns of. Every test here has a subscriber: without one its lines could be lost to the others.

use std::io;

use aws_sdk_dynamodb::types::AttributeValue;
use lambda_idempotency::{Engine, MissingKey, Policy, Typed, batch};
use lambda_idempotency_tests::{
    Bench, Capture, ORDER_KEY, TestResult, Work, edited_order, name_of, order, sqs_event,
};
use lambda_runtime::{Context, LambdaEvent};
use serde_json::{Value, json};

fn note(capture: &Capture) -> (String, String) {
    let report = capture.reports().pop().expect("a line");
    (report.level.clone(), report.fields.get("note").cloned().unwrap_or_default())
}

/// Written before there were fingerprints, or by an edited rule: accepted, and said.
#[tokio::test]
async fn an_answer_whose_content_cannot_be_compared_is_replayed_with_a_warning() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let submit = async |engine: Engine, input: Value| {
        engine.run(&input, |_| async { Ok::<_, io::Error>(work.run()) }).await
    };
    submit(bench.engine("orders.submit", ORDER_KEY)?, order()).await?;
    let written = bench.only_item().await?;
    // In another process too: the same content is a replay without a word, other content is refused.
    {
        let (capture, _guard) = Capture::start();
        let replay = submit(bench.engine_of_another_process("orders.submit", ORDER_KEY)?, order()).await?;
        assert!(replay.is_replayed());
        assert_eq!(note(&capture), ("INFO".to_owned(), String::new()));
        let other =
            submit(bench.engine_of_another_process("orders.submit", ORDER_KEY)?, edited_order()).await;
        assert_eq!(name_of(&other), "PayloadMismatch");
        assert_eq!(bench.only_item().await?, written);
    }
    for validation in [None, Some("1:00000000:0123"), Some("of another writer")] {
        let mut item = written.clone();
        match validation {
            None => item.remove("validation"),
            Some(text) => item.insert("validation".to_owned(), AttributeValue::S(text.to_owned())),
        };
        bench.put(item.clone()).await?;
        let (capture, _guard) = Capture::start();
        let replay = submit(bench.engine("orders.submit", ORDER_KEY)?, edited_order()).await?;
        assert!(replay.is_replayed(), "{validation:?}");
        let (level, note) = note(&capture);
        assert_eq!(level, "WARN");
        assert!(note.contains("no fingerprint of this rule"), "{note}");
        assert_eq!(bench.only_item().await?, item);
    }
    assert_eq!(work.runs(), 1);
    Ok(())
}

/// What runs without protection, and a failure that is not a fresh one, can be seen in the log.
#[tokio::test]
async fn unprotected_runs_and_replayed_failures_are_warnings() -> TestResult {
    let (capture, _guard) = Capture::start();
    let bench = Bench::memory();
    let open = bench.engine("open", "id")?.policy(Policy::new().missing_key(MissingKey::RunUnprotected))?;
    open.run(&json!({}), |_| async { Ok::<_, io::Error>(1) }).await?;
    let report = capture.reports().pop().ok_or("no line")?;
    assert_eq!((&*report.level, &*report.fields["outcome"]), ("WARN", "Unprotected"));
    assert!(report.fields["note"].contains("lacks the key"), "{report:?}");

    let results = Typed::<u8, String>::new().store_failures();
    let engine = bench.engine("failing", "id")?;
    for outcome in ["FunctionFailed", "FailureReplayed"] {
        let input = json!({"id": 1});
        let failed = engine.run_with(&input, &results, |_| async { Err("declined".to_owned()) }).await;
        assert_eq!(name_of(&failed), outcome);
        let report = capture.reports().pop().ok_or("no line")?;
        assert_eq!((&*report.level, &*report.fields["outcome"]), ("WARN", outcome));
    }
    Ok(())
}

#[lambda_idempotency::idempotent(key = "id", input = order, name = "orders.without_a_store")]
async fn without_a_store(order: &Value, work: &Work) -> Result<usize, lambda_idempotency::Error> {
    Ok(work.run())
}

#[tokio::test]
async fn a_function_without_a_store_has_its_line_like_any_other() -> TestResult {
    let (capture, _guard) = Capture::start();
    let work = Work::new();
    let (refused, seen) = lambda_idempotency::observed(without_a_store(&json!({"id": 1}), &work)).await;
    assert!(refused.is_err() && work.runs() == 0);
    assert_eq!(seen.map(|seen| seen.outcome), Some("Config"));
    let report = capture.reports().pop().ok_or("no line")?;
    assert_eq!((&*report.level, &*report.fields["outcome"]), ("ERROR", "Config"));
    assert_eq!(report.fields["function"], "orders.without_a_store");
    Ok(())
}

/// So has one that cannot be guarded as it is written, at every call.
#[tokio::test]
async fn a_function_that_needs_a_name_has_its_line_like_any_other() -> TestResult {
    // Inside of a function, and so in no place of its own.
    #[lambda_idempotency::idempotent(key = "id", input = order)]
    async fn nameless(order: &Value, work: &Work) -> Result<usize, lambda_idempotency::Error> {
        Ok(work.run())
    }
    let (capture, _guard) = Capture::start();
    let work = Work::new();
    for call in 1..=2 {
        let (refused, seen) = lambda_idempotency::observed(nameless(&json!({"id": 1}), &work)).await;
        assert!(refused.is_err() && work.runs() == 0);
        assert_eq!(seen.map(|seen| seen.outcome), Some("Config"));
        let reports = capture.reports();
        let report = reports.last().ok_or("no line")?;
        assert_eq!((&*report.level, &*report.fields["outcome"]), ("ERROR", "Config"));
        assert_eq!((reports.len(), &*report.fields["function"]), (call, "log_warnings::nameless"));
        assert!(report.fields["note"].contains("name = "), "{report:?}");
    }
    Ok(())
}

#[lambda_idempotency::idempotent(key = "id", input = order, name = "orders.shared")]
async fn submit(order: &Value) -> Result<u8, lambda_idempotency::Error> {
    let _ = order;
    Ok(1)
}

#[lambda_idempotency::idempotent(key = "id", input = order, name = "orders.shared")]
async fn cancel(order: &Value) -> Result<u8, lambda_idempotency::Error> {
    let _ = order;
    Ok(2)
}

/// It can be meant (a function that was moved), or it is a name that was copied.
#[tokio::test]
async fn two_functions_of_one_name_are_told_once_that_they_share_their_records() -> TestResult {
    let (capture, _guard) = Capture::start();
    let (bench, order) = (Bench::memory(), json!({"id": 1}));
    for _ in 0..2 {
        assert_eq!((bench.run(submit(&order)).await?, bench.run(cancel(&order)).await?), (1, 1));
    }
    let warnings: Vec<_> = capture.entries().into_iter().filter(|entry| entry.level == "WARN").collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].fields["name"], "orders.shared");
    assert!(warnings[0].fields["message"].contains("share their records"), "{warnings:?}");
    Ok(())
}

/// An alarm on errors in the log is for what went wrong, not for an order that is kept.
#[tokio::test]
async fn a_busy_message_and_what_waits_for_it_in_its_group_are_no_errors_in_the_log() -> TestResult {
    let (capture, _guard) = Capture::start();
    let bench = Bench::memory();
    let engine = bench.engine("jobs", "id")?;
    let submit = |job: batch::Record<Value>| {
        let engine = engine.clone();
        async move {
            let work = |_| std::future::pending::<Result<(), lambda_idempotency::Error>>();
            engine.run(&job, work).await
        }
    };
    let mut messages = sqs_event(&[("first", r#"{"id": 1}"#), ("second", r#"{"id": 2}"#)]);
    for record in messages["Records"].as_array_mut().ok_or("no records")? {
        record["eventSourceARN"] = json!("arn:aws:sqs:us-east-1:000000000000:jobs.fifo");
        record["attributes"]["MessageGroupId"] = json!("g1");
    }
    let delivery =
        || serde_json::from_value(messages.clone()).map(|event| LambdaEvent::new(event, Context::default()));
    let mut at_work = Box::pin(bench.run(batch::sqs(delivery()?, submit)));
    assert!(futures_util::poll!(&mut at_work).is_pending());
    let returned = bench.run(batch::sqs(delivery()?, submit)).await?.batch_item_failures;
    assert_eq!(returned.len(), 2);

    let said = capture.entries().into_iter().filter_map(|entry| {
        let message = entry.fields.get("message")?.contains("returned to the queue");
        message.then_some(entry.level)
    });
    assert_eq!(said.collect::<Vec<_>>(), ["INFO", "INFO"]);
    Ok(())
}
