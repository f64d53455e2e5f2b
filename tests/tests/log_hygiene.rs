//! The log: one line for each call, and nothing of what the work is about.

use aws_lambda_events::sqs::SqsEvent;
use lambda_idempotency::{
    Error, IdempotencyLayer, Key, Policy, Raw, batch, idempotent, observed, proxy, service_fn,
};
use lambda_idempotency_tests::{Bench, Capture, Entry, TestResult, Work, everything_said, sqs_event};
use lambda_runtime::{Context, LambdaEvent};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tower::{Layer, ServiceExt};

/// Stands in events, keys, contents and results, and may be in no log line.
const CANARY: &str = "canary-4f1d";

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Order {
    order_id: String,
    content: u32,
    #[serde(default)]
    then: Then,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Then {
    #[default]
    Answer,
    Fail,
    Panic,
}

fn order(number: u32) -> Order {
    Order { order_id: format!("{CANARY}-{number}"), content: 1, then: Then::Answer }
}

#[derive(Debug, thiserror::Error)]
enum OrderError {
    #[error("not submitted")]
    Idempotency(#[from] Error),
    #[error("refused")]
    Refused,
}

#[idempotent(key = "order_id", input = order, name = "orders.submit")]
async fn submit(order: &Order) -> Result<String, OrderError> {
    match order.then {
        Then::Answer => Ok(format!("{CANARY} result")),
        Then::Fail => Err(OrderError::Refused),
        Then::Panic => panic!("{CANARY} panics"),
    }
}

/// The same records, read as another type.
#[idempotent(key = "order_id", input = order, fingerprint = "none", name = "orders.submit")]
async fn count(order: &Order) -> Result<u64, OrderError> {
    Ok(u64::from(order.content))
}

#[idempotent(key = "order_id", input = order, name = "orders.held")]
async fn submit_held(order: &Order, work: &Work) -> Result<(), OrderError> {
    work.run_held().await;
    Ok(())
}

#[idempotent(key = "order_id", name = "orders.batch")]
async fn from_batch(order: batch::Record<Order>) -> Result<String, OrderError> {
    Ok(order.order_id.clone())
}

#[idempotent(key = "order_id", name = "orders.handler")]
async fn handler(event: LambdaEvent<Raw<serde_json::Value>>) -> Result<String, lambda_runtime::Error> {
    Ok(event.payload.to_string())
}

fn no_canary(capture: &Capture) {
    for Entry { fields, .. } in capture.entries() {
        assert!(!fields.values().any(|value| value.contains(CANARY)), "{fields:?}");
    }
}

/// Level, outcome and takeover of each report.
fn told(capture: &Capture) -> Vec<(String, String, String)> {
    let field =
        |entry: &Entry, name: &str| entry.fields.get(name).cloned().unwrap_or_else(|| "absent".into());
    let row = |entry: &Entry| (entry.level.clone(), field(entry, "outcome"), field(entry, "takeover"));
    capture.reports().iter().map(row).collect()
}

fn row(level: &str, outcome: &str, takeover: &str) -> (String, String, String) {
    (level.to_owned(), outcome.to_owned(), takeover.to_owned())
}

#[tokio::test]
async fn each_call_logs_one_line_with_function_record_outcome_and_takeover() -> TestResult {
    let (capture, _guard) = Capture::start();
    let bench = Bench::memory();
    let edited = Order { content: 2, ..order(1) };
    let failing = Order { then: Then::Fail, ..order(2) };
    let nameless = Order { order_id: String::new(), ..order(3) };
    bench.run(submit(&order(1))).await?;
    bench.run(submit(&order(1))).await?;
    let mut errors = vec![
        bench.run(submit(&edited)).await.err(),
        bench.run(submit(&failing)).await.err(),
        bench.run(submit(&nameless)).await.err(),
        bench.run(count(&order(1))).await.err(),
    ];

    // One in progress, one that finds it so, and one that takes over.
    let (work, third) = (Work::new(), order(3));
    let held = bench.run(submit_held(&third, &work));
    let mut held = Box::pin(held);
    tokio::select! {
        ended = &mut held => ended?,
        entered = work.entered() => entered?,
    }
    errors.push(bench.run(submit_held(&third, &work)).await.err());
    drop(held);
    bench.clock.advance(std::time::Duration::from_secs(903));
    work.go_on();
    bench.run(submit_held(&third, &work)).await?;

    let expected = [
        row("INFO", "Executed", "false"),
        row("INFO", "Replayed", "false"),
        row("ERROR", "PayloadMismatch", "false"),
        row("WARN", "FunctionFailed", "false"),
        row("ERROR", "MissingKey", "false"),
        row("ERROR", "ReplayDecode", "false"),
        row("INFO", "AlreadyInProgress", "false"),
        row("WARN", "Dropped", "false"),
        row("INFO", "Executed", "true"),
    ];
    assert_eq!(told(&capture), expected);
    for report in capture.reports() {
        let function = &report.fields["function"];
        let id = &report.fields["record_id"];
        assert!(function.starts_with("orders."), "{report:?}");
        let without_key = report.fields["outcome"] == "MissingKey";
        assert_eq!(id.is_empty(), without_key, "{report:?}");
        assert!(without_key || id.starts_with(&format!("{function}#")), "{report:?}");
    }
    no_canary(&capture);
    for error in errors.into_iter() {
        let said = everything_said(&error.ok_or("it did not fail")?);
        assert!(!said.contains(CANARY), "{said}");
    }
    Ok(())
}

#[tokio::test]
async fn a_panic_is_told_once_and_without_its_words() -> TestResult {
    let (capture, _guard) = Capture::start();
    let bench = Bench::memory();
    let panicking = Order { then: Then::Panic, ..order(1) };
    let call = bench.run(async move { submit(&panicking).await });
    assert!(tokio::spawn(call).await.is_err_and(|error| error.is_panic()));
    assert_eq!(told(&capture), [row("ERROR", "Panicked", "false")]);
    no_canary(&capture);
    Ok(())
}

#[tokio::test]
async fn a_batch_tells_what_it_returns_to_the_queue_without_its_content() -> TestResult {
    let (capture, _guard) = Capture::start();
    let bench = Bench::dynamodb().await?;
    let good = serde_json::to_string(&order(1))?;
    let edited = serde_json::to_string(&Order { content: 2, ..order(1) })?;
    let wrong_type = json!({"order_id": [CANARY], "content": CANARY}).to_string();
    let messages =
        [("good", good.as_str()), ("broken", "{canary-4f1d"), ("shape", &wrong_type), ("edited", &edited)];
    let event: SqsEvent = serde_json::from_value(sqs_event(&messages))?;
    let event = LambdaEvent::new(event, Context::default());
    let response = bench.run(batch::sqs(event, from_batch)).await?;

    let returned: Vec<_> =
        response.batch_item_failures.iter().map(|item| item.item_identifier.as_str()).collect();
    assert_eq!(returned, ["broken", "shape", "edited"]);
    let told = told(&capture);
    assert_eq!(told, [row("INFO", "Executed", "false"), row("ERROR", "PayloadMismatch", "false")]);
    let failures = capture.entries().into_iter().filter(|entry| entry.fields.contains_key("error"));
    assert_eq!(failures.count(), 3, "one line for each that goes back");
    let ids: Vec<_> =
        capture.entries().iter().filter_map(|entry| entry.fields.get("message_id").cloned()).collect();
    assert_eq!(ids, ["good", "broken", "shape", "edited"], "each in a span that names its message");
    no_canary(&capture);
    Ok(())
}

#[tokio::test]
async fn a_handlers_event_and_error_are_not_in_the_log() -> TestResult {
    let (capture, _guard) = Capture::start();
    let bench = Bench::memory();
    let invoke = |payload: serde_json::Value| {
        let payload = Raw::from_value(&payload).map(|payload| LambdaEvent::new(payload, Context::default()));
        bench.run(async move { Ok::<_, Error>(service_fn(handler).oneshot(payload?).await) })
    };
    invoke(json!({"order_id": CANARY, "content": CANARY})).await?.map_err(|error| error.error_message)?;
    let edited = invoke(json!({"order_id": CANARY, "content": "edited"})).await?;
    let diagnostic = edited.err().ok_or("other content was accepted")?;
    assert_eq!(diagnostic.error_type, "IdempotencyPayloadMismatch");
    assert!(!diagnostic.error_message.contains(CANARY), "{}", diagnostic.error_message);

    // Not JSON, and JSON of another shape.
    for text in ["{canary-4f1d", r#"{"order_id": "canary-4f1d"}"#] {
        let error = Raw::<Order>::from_json(text).err().ok_or("it was accepted")?;
        assert!(!everything_said(&error).contains(CANARY));
        let event: Result<Raw<Order>, _> = serde_json::from_str(text);
        let error = event.err().ok_or("it was accepted")?;
        assert!(!everything_said(&error).contains(CANARY), "{error}");
    }
    assert!(!format!("{:?}", Raw::<serde_json::Value>::from_value(&json!(CANARY))?).contains(CANARY));
    no_canary(&capture);
    Ok(())
}

/// Written without what it is read with: no duplicate could ever be answered.
#[derive(Debug, Serialize, Deserialize)]
struct Lossy {
    #[serde(skip_serializing)]
    #[allow(dead_code, reason = "only its absence from the text counts")]
    id: u64,
}

#[tokio::test]
async fn a_result_that_no_replay_can_read_is_told_at_its_first_run() -> TestResult {
    let (capture, _guard) = Capture::start();
    let bench = Bench::memory();
    let engine = bench.engine("lossy", "id")?;
    let input = serde_json::json!({"id": 1});
    engine.run(&input, |_| async { Ok::<_, lambda_idempotency::Error>(Lossy { id: 1 }) }).await?;
    let reports = capture.reports();
    let note = reports.first().and_then(|line| line.fields.get("note")).ok_or("no note")?;
    assert!(note.contains("does not decode"), "{note}");
    assert_eq!(reports[0].level, "WARN");
    Ok(())
}

#[tokio::test]
async fn a_call_whose_future_is_dropped_is_told_with_its_record() -> TestResult {
    let (capture, _guard) = Capture::start();
    let bench = Bench::memory();
    let engine = bench.engine("dropped", "id")?;
    let input = serde_json::json!({"id": 1});
    {
        let call = engine.run(&input, |_| std::future::pending::<Result<u8, lambda_idempotency::Error>>());
        let mut call = Box::pin(call);
        assert!(futures_util::poll!(&mut call).is_pending());
        assert!(capture.reports().is_empty());
    }
    let reports = capture.reports();
    let said: Vec<_> = reports.iter().map(|line| (&*line.fields["outcome"], &*line.level)).collect();
    assert_eq!(said, [("Dropped", "WARN")]);
    assert!(reports[0].fields["record_id"].starts_with("dropped#"), "{reports:?}");
    Ok(())
}

/// A request to a function URL.
fn request(key: Option<&str>, body: &str) -> Value {
    json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": "/orders",
        "rawQueryString": "",
        "headers": key.map(|key| json!({"idempotency-key": key})),
        "requestContext": {
            "apiId": "a",
            "domainName": "a.lambda-url.us-east-1.on.aws",
            "requestId": "r",
            "stage": "$default",
            "http": {"method": "POST", "path": "/orders"},
        },
        "body": body,
    })
}

#[tokio::test]
async fn a_refusal_that_is_answered_is_told_as_if_it_were_not() -> TestResult {
    let mut both = Vec::new();
    for answered in [false, true] {
        let (capture, _guard) = Capture::start();
        let bench = Bench::memory();
        let key = Key::parse("header(headers, 'idempotency-key')")?;
        let layer = IdempotencyLayer::<Value>::new(bench.store.clone(), key, Policy::new())?;
        let layer = layer.clock(bench.clock.clone());
        let layer = if answered { layer.on_refused(proxy::problem) } else { layer };
        let handler = |_: LambdaEvent<Value>| async { Ok::<_, Error>(json!({"body": CANARY})) };
        let service = layer.layer(tower::service_fn(handler));
        let mut observations = Vec::new();
        for (key, body) in [(Some(CANARY), "a"), (Some(CANARY), CANARY), (None, CANARY)] {
            let event = RawValue::from_string(request(key, body).to_string())?;
            let event = LambdaEvent::new(event, Context::default());
            let (result, observation) = observed(service.clone().oneshot(event)).await;
            assert_eq!(result.is_ok(), answered || body == "a", "{result:?}");
            observations.push(observation.ok_or("nothing was observed")?);
        }
        let expected = [
            row("INFO", "Executed", "false"),
            row("ERROR", "PayloadMismatch", "false"),
            row("ERROR", "MissingKey", "false"),
        ];
        assert_eq!(told(&capture), expected);
        no_canary(&capture);
        let lines: Vec<_> = capture.entries().into_iter().map(|entry| (entry.level, entry.fields)).collect();
        both.push((lines, observations));
    }
    assert_eq!(both[0], both[1]);
    Ok(())
}

/// An error that looks through to its source hides it: the source of it is the source's source.
#[derive(Debug, thiserror::Error)]
enum Hiding {
    #[error(transparent)]
    Idempotency(#[from] Error),
}

#[idempotent(key = "header(headers, 'idempotency-key')", name = "orders.hiding")]
async fn hiding(event: LambdaEvent<Raw<Value>>) -> Result<Value, Hiding> {
    Ok(event.payload["body"].clone())
}

#[tokio::test]
async fn a_refusal_that_the_handlers_error_hides_is_told() -> TestResult {
    let (capture, _guard) = Capture::start();
    let bench = Bench::memory();
    for key in [Some(CANARY), None] {
        let event = RawValue::from_string(request(key, CANARY).to_string())?;
        let event = LambdaEvent::new(event, Context::default());
        let service = service_fn(hiding).on_refused(proxy::problem);
        assert_eq!(bench.run(service.oneshot(event)).await.is_ok(), key.is_some());
    }
    let warnings: Vec<_> =
        capture.entries().into_iter().filter(|entry| entry.fields.contains_key("refusal")).collect();
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert_eq!((&*warning.level, &*warning.fields["refusal"]), ("WARN", "MissingKey"));
    assert!(warning.fields["message"].contains("transparent"), "{warning:?}");
    no_canary(&capture);
    Ok(())
}
