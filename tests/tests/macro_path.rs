//! An annotated function from claim to answer, on the memory store and on DynamoDB.

use lambda_idempotency::{Attempt, Error, Raw, idempotent, service_fn};
use lambda_idempotency_tests::{Bench, TestResult, Work, edited_order, on_both_stores, order};
use lambda_runtime::{Context, LambdaEvent};
use serde::{Deserialize, Serialize};
use tower::ServiceExt;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Order {
    order_id: u64,
    version: u32,
    instruction: String,
}

#[derive(Debug, thiserror::Error)]
enum SubmitError {
    #[error("not submitted")]
    Idempotency(#[from] Error),
    #[error("the provider said no")]
    Provider,
}

impl SubmitError {
    fn name(&self) -> &'static str {
        match self {
            Self::Idempotency(error) => error.name(),
            Self::Provider => "Provider",
        }
    }
}

fn typed(json: serde_json::Value) -> Result<Order, serde_json::Error> {
    serde_json::from_value(json)
}

#[idempotent(key = "[order_id, version]", input = order, name = "orders.submit")]
async fn submit(order: &Order, work: &Work) -> Result<String, SubmitError> {
    Ok(format!("run-{} of order {}", work.run(), order.order_id))
}

#[idempotent(key = "[order_id, version]", input = order, name = "orders.submit")]
async fn submit_held(order: &Order, work: &Work) -> Result<String, SubmitError> {
    Ok(format!("run-{} of order {}", work.run_held().await, order.order_id))
}

#[idempotent(key = "[order_id, version]", input = order, name = "orders.submit")]
async fn submit_in_vain(order: &Order, work: &Work) -> Result<String, SubmitError> {
    work.run();
    Err(SubmitError::Provider)
}

on_both_stores!(
    a_second_call_is_answered_from_the_record,
    a_call_while_the_first_one_runs_is_told_when_to_come_back,
    other_content_under_the_key_is_refused_and_changes_nothing,
    a_failure_gives_the_key_back,
    a_panic_gives_the_key_back_and_goes_on,
    what_the_function_does_to_its_input_changes_nothing,
    a_failure_after_the_input_was_changed_gives_the_right_key_back,
    a_handler_takes_its_key_from_the_bytes_of_the_event,
    the_same_work_has_the_same_token_in_every_attempt,
);

async fn a_second_call_is_answered_from_the_record(bench: Bench) -> TestResult {
    let (work, order) = (Work::new(), typed(order())?);
    let first = bench.run(submit(&order, &work)).await?;
    let second = bench.run(submit(&order, &work)).await?;
    assert_eq!((first.as_str(), second.as_str()), ("run-1 of order 77", "run-1 of order 77"));
    assert_eq!((work.runs(), bench.count().await?), (1, 1));
    Ok(())
}

async fn a_call_while_the_first_one_runs_is_told_when_to_come_back(bench: Bench) -> TestResult {
    let (work, order) = (Work::new(), typed(order())?);
    let (inside, same) = (work.clone(), order.clone());
    let first = tokio::spawn(bench.run(async move { submit_held(&same, &inside).await }));
    work.entered().await?;

    let second = bench.run(submit(&order, &work)).await;
    let Err(SubmitError::Idempotency(error)) = second else { panic!("{second:?}") };
    assert_eq!(error.name(), "AlreadyInProgress");
    assert!(error.is_retryable());
    // No deadline is known: 15 minutes, the margin, and the first millisecond after both.
    assert_eq!(error.retry_at().map(|at| at.get()), Some(1_900_000_000_250 + 900_000 + 2_000 + 1));

    work.go_on();
    first.await??;
    assert_eq!(bench.run(submit(&order, &work)).await?, "run-1 of order 77");
    assert_eq!(work.runs(), 1);
    Ok(())
}

async fn other_content_under_the_key_is_refused_and_changes_nothing(bench: Bench) -> TestResult {
    let (work, order, edited) = (Work::new(), typed(order())?, typed(edited_order())?);
    bench.run(submit(&order, &work)).await?;

    let refused = bench.run(submit(&edited, &work)).await;
    assert!(matches!(&refused, Err(error) if error.name() == "PayloadMismatch"), "{refused:?}");

    assert_eq!(bench.run(submit(&order, &work)).await?, "run-1 of order 77");
    let next = Order { version: 4, ..edited };
    assert_eq!(bench.run(submit(&next, &work)).await?, "run-2 of order 77");
    assert_eq!(bench.count().await?, 2);
    Ok(())
}

async fn a_failure_gives_the_key_back(bench: Bench) -> TestResult {
    let (work, order) = (Work::new(), typed(order())?);
    let failed = bench.run(submit_in_vain(&order, &work)).await;
    assert!(matches!(&failed, Err(SubmitError::Provider)), "the function's own error: {failed:?}");
    assert_eq!(bench.count().await?, 0);
    assert_eq!(bench.run(submit(&order, &work)).await?, "run-2 of order 77");
    Ok(())
}

async fn a_panic_gives_the_key_back_and_goes_on(bench: Bench) -> TestResult {
    #[idempotent(key = "order_id", input = order, name = "orders.panic")]
    async fn panics(order: &Order, fails: bool) -> Result<String, SubmitError> {
        assert!(!fails, "as the test says");
        Ok("done".to_owned())
    }
    let order = typed(order())?;
    let same = order.clone();
    let ended = tokio::spawn(bench.run(async move { panics(&same, true).await })).await;
    let panic = ended.err().ok_or("the panic was swallowed")?.into_panic();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"as the test says"));
    assert_eq!(bench.count().await?, 0);
    assert_eq!(bench.run(panics(&order, false)).await?, "done");
    Ok(())
}

#[idempotent(key = "[order_id, version]", name = "orders.normalise")]
async fn normalise(mut order: Order) -> Result<Order, SubmitError> {
    order.order_id += 1;
    order.instruction = order.instruction.to_uppercase();
    if order.version == 0 { Err(SubmitError::Provider) } else { Ok(order) }
}

async fn what_the_function_does_to_its_input_changes_nothing(bench: Bench) -> TestResult {
    let order = typed(order())?;
    let first = bench.run(normalise(order.clone())).await?;
    let second = bench.run(normalise(order)).await?;
    assert_eq!(first.instruction, "15S TEASER");
    assert_eq!(first, second);
    assert_eq!(bench.count().await?, 1);
    Ok(())
}

async fn a_failure_after_the_input_was_changed_gives_the_right_key_back(bench: Bench) -> TestResult {
    let doomed = Order { version: 0, ..typed(order())? };
    for _ in 0..2 {
        let failed = bench.run(normalise(doomed.clone())).await;
        assert!(matches!(&failed, Err(SubmitError::Provider)), "{failed:?}");
        assert_eq!(bench.count().await?, 0);
    }
    Ok(())
}

#[derive(Debug, Deserialize)]
struct OnlyTheId {
    #[allow(dead_code)]
    order_id: u64,
}

/// The type knows neither `version` nor `instruction`.
#[idempotent(key = "[order_id, version]", name = "orders.handle")]
async fn handle(event: LambdaEvent<Raw<OnlyTheId>>) -> Result<String, lambda_runtime::Error> {
    Ok(event.context.request_id)
}

async fn a_handler_takes_its_key_from_the_bytes_of_the_event(bench: Bench) -> TestResult {
    let invoke = |request_id: &str, payload: serde_json::Value| {
        let mut context = Context::default();
        context.request_id = request_id.to_owned();
        context.deadline = 1_900_000_020_000;
        let payload = Raw::from_value(&payload).map(|payload| LambdaEvent::new(payload, context));
        bench.run(async move { Ok::<_, Error>(service_fn(handle).oneshot(payload?).await) })
    };
    assert_eq!(invoke("first", order()).await?.map_err(|error| error.error_type), Ok("first".into()));
    let mut spelled_otherwise = order();
    spelled_otherwise["version"] = serde_json::json!(3.0);
    let again = invoke("second", spelled_otherwise).await?.map_err(|error| error.error_type);
    assert_eq!(again, Ok("first".into()));
    let edited = invoke("third", edited_order()).await?.map_err(|error| error.error_type);
    assert_eq!(edited, Err("IdempotencyPayloadMismatch".into()));
    Ok(())
}

#[idempotent(key = "order_id", input = order, name = "orders.token")]
async fn token(order: &Order, seen: &std::sync::Mutex<Vec<String>>) -> Result<(), SubmitError> {
    let token = Attempt::current().and_then(|attempt| attempt.token("charge"));
    let mut seen = seen.lock().map_err(|_| SubmitError::Provider)?;
    seen.extend(token);
    if seen.len() < 2 { Err(SubmitError::Provider) } else { Ok(()) }
}

async fn the_same_work_has_the_same_token_in_every_attempt(bench: Bench) -> TestResult {
    let (order, seen) = (typed(order())?, std::sync::Mutex::default());
    assert!(bench.run(token(&order, &seen)).await.is_err());
    bench.run(token(&order, &seen)).await?;
    let other = Order { order_id: 78, ..order };
    bench.run(token(&other, &seen)).await?;
    let seen = seen.into_inner().unwrap_or_default();
    assert_eq!(seen[0], seen[1]);
    assert_ne!(seen[1], seen[2]);
    assert!(!seen[0].contains("77"), "{}", seen[0]);
    assert!(Attempt::current().is_none());
    Ok(())
}

/// The scope of a test reaches the task in which a detached call runs.
#[tokio::test]
async fn an_annotated_function_in_a_detached_call_has_the_store_of_its_scope() -> TestResult {
    let bench = Bench::memory();
    let engine = bench.engine("around", "@")?;
    let order = typed(order())?;
    let (input, work) = (order.clone(), Work::new());
    let call = engine.run_detached(&order, |_| async move { submit(&input, &work).await });
    bench.run(call).await?;
    assert_eq!(bench.count().await?, 2);
    Ok(())
}
