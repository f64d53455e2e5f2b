//! Refusals of a layer and of a handler that are answered, and what stays an error.

use std::sync::Arc;

use lambda_idempotency::testing::{Fault, FaultyStore, ManualClock, Verb, scope};
use lambda_idempotency::{
    Error, IdempotencyLayer, Key, MemoryStore, Policy, Raw, compute_id, idempotent, proxy, service_fn,
};
use lambda_idempotency_tests::{Bench, NOW, TestResult, Work};
use lambda_runtime::{Context, Diagnostic, LambdaEvent};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tower::{Layer, Service, ServiceBuilder, ServiceExt};

use crate::events::{KEY, MULTI_VALUE, header, plain_request, problem, request, takers};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The application's own, with the library's among its sources.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OrderError {
    #[error("not created")]
    Idempotency(#[from] Error),
    #[error("the provider said no")]
    Provider,
}

/// A layer on the store and the clock of a bench.
pub(crate) fn layer(bench: &Bench) -> Result<IdempotencyLayer<Value>, Failure> {
    layer_on(bench.store.clone(), bench.clock.clone())
}

fn layer_on(
    store: impl lambda_idempotency::Store + 'static,
    clock: Arc<ManualClock>,
) -> Result<IdempotencyLayer<Value>, Failure> {
    Ok(IdempotencyLayer::new(store, Key::parse(KEY)?, Policy::new())?.name("orders.create")?.clock(clock))
}

/// One invocation with twenty seconds left; the JSON of its response.
pub(crate) async fn invoke<S>(service: &S, text: &str) -> Result<Value, Diagnostic>
where
    S: Service<LambdaEvent<Box<RawValue>>, Response = Box<RawValue>, Error = Diagnostic> + Clone,
{
    let own = |error: serde_json::Error| Diagnostic {
        error_type: "the test's own".to_owned(),
        error_message: error.to_string(),
    };
    let mut context = Context::default();
    context.deadline = u64::try_from(NOW.get()).unwrap_or_default() + 20_000;
    let event = LambdaEvent::new(RawValue::from_string(text.to_owned()).map_err(own)?, context);
    let response = service.clone().oneshot(event).await?;
    serde_json::from_str(response.get()).map_err(own)
}

/// The failure of an invocation that is to fail.
pub(crate) fn failure(result: Result<Value, Diagnostic>) -> Result<Diagnostic, String> {
    result.err().map_or_else(|| Err("it succeeded".to_owned()), Ok)
}

fn said(error: Diagnostic) -> String {
    format!("{}: {}", error.error_type, error.error_message)
}

/// Status and code of a problem; the status alone of another response.
fn told(taker: &str, response: &Value) -> Result<(u64, String), Failure> {
    let status = response["statusCode"].as_u64().ok_or("no status")?;
    if header(taker, response, "content-type") != Some("application/problem+json") {
        return Ok((status, String::new()));
    }
    let code = problem(response)?["code"].as_str().ok_or("no code")?.to_owned();
    Ok((status, code))
}

#[tokio::test]
async fn a_layer_answers_whoever_sent_the_request_where_he_looks() -> TestResult {
    for (taker, event) in takers() {
        let (bench, work) = (Bench::memory(), Work::new());
        let inside = work.clone();
        let handler = move |event: LambdaEvent<Value>| {
            let work = inside.clone();
            async move {
                match event.payload["body"].as_str() {
                    Some("held") => drop(work.run_held().await),
                    _ => drop(work.run()),
                }
                Ok::<_, OrderError>(
                    json!({"statusCode": 201, "headers": {"location": "/o/1"}, "body": "secret"}),
                )
            }
        };
        let layer = layer(&bench)?.on_refused(proxy::problem);
        let service = ServiceBuilder::new().layer(layer).service_fn(handler);
        let told_of = async |key: Option<&str>, body: &str| -> Result<((u64, String), Value), Failure> {
            let response = invoke(&service, &request(&event, key, body)?).await.map_err(said)?;
            Ok((told(taker, &response)?, response))
        };

        let (missing, response) = told_of(None, "{}").await?;
        assert_eq!(missing, (400, "idempotency-key-required".to_owned()), "{taker}: {response}");
        assert_eq!((work.runs(), bench.count().await?), (0, 0), "{taker}");

        // A first run's response and its replay are the handler's.
        for _ in 0..2 {
            let (created, response) = told_of(Some("k-1"), "{}").await?;
            assert_eq!((created.0, &response["headers"]["location"]), (201, &json!("/o/1")), "{taker}");
        }
        let records = bench.memory_records();
        let (mismatch, response) = told_of(Some("k-1"), "other").await?;
        assert_eq!(mismatch, (422, "idempotency-key-mismatch".to_owned()), "{taker}: {response}");
        assert!(!response.to_string().contains("secret"), "{taker}: {response}");
        assert_eq!(header(taker, &response, "retry-after"), None);
        assert_eq!(format!("{:?}", bench.memory_records()), format!("{records:?}"), "{taker}");
        assert_eq!(work.runs(), 1, "{taker}");

        let (first, text) = (service.clone(), request(&event, Some("k-2"), "held")?);
        let first = tokio::spawn(async move { invoke(&first, &text).await });
        work.entered().await?;
        let (busy, response) = told_of(Some("k-2"), "held").await?;
        assert_eq!(busy, (409, "idempotency-key-in-use".to_owned()), "{taker}: {response}");
        // Lease and margin end in 22 seconds; a retry can succeed a millisecond after that.
        assert_eq!(header(taker, &response, "retry-after"), Some("23"), "{taker}: {response}");
        work.go_on();
        assert_eq!(first.await?.map_err(said)?["statusCode"], 201, "{taker}");
        // The refusal was no answer.
        assert_eq!(told_of(Some("k-2"), "held").await?.0.0, 201, "{taker}");
        assert_eq!((work.runs(), bench.count().await?), (2, 2), "{taker}");

        let lists = response["multiValueHeaders"].is_object();
        assert_eq!((lists, response["headers"].is_object()), (taker == MULTI_VALUE, taker != MULTI_VALUE));
    }
    Ok(())
}

#[idempotent(key = "header(multiValueHeaders || headers, 'idempotency-key')", name = "orders.create")]
async fn create(event: LambdaEvent<Raw<Value>>) -> Result<Value, OrderError> {
    match event.payload["body"].as_str() {
        Some("fail") => Err(OrderError::Provider),
        _ => Ok(json!({"statusCode": 201, "body": "secret"})),
    }
}

#[tokio::test]
async fn an_annotated_handler_is_answered_in_the_same_way() -> TestResult {
    for (taker, event) in takers() {
        let bench = Bench::memory();
        let service = service_fn(create).on_refused(proxy::problem);
        let told_of = async |key: Option<&str>, body: &str| -> Result<(u64, String), Failure> {
            let text = request(&event, key, body)?;
            told(taker, &bench.run(async { invoke(&service, &text).await }).await.map_err(said)?)
        };
        assert_eq!(told_of(None, "{}").await?, (400, "idempotency-key-required".to_owned()), "{taker}");
        assert_eq!(told_of(Some("k"), "{}").await?.0, 201, "{taker}");
        assert_eq!(told_of(Some("k"), "{}").await?.0, 201, "{taker}");
        assert_eq!(told_of(Some("k"), "x").await?, (422, "idempotency-key-mismatch".to_owned()), "{taker}");
        assert_eq!(bench.count().await?, 1, "{taker}");
    }
    Ok(())
}

#[tokio::test]
async fn errors_of_the_functions_own_and_those_without_a_response_stay_errors() -> TestResult {
    let bench = Bench::memory();
    let handler = |event: LambdaEvent<Value>| async move {
        match event.payload["body"].as_str() {
            Some("config") => Err(OrderError::Idempotency(Error::Config { message: "no store".to_owned() })),
            _ => Err::<Value, _>(OrderError::Provider),
        }
    };
    let guarded = ServiceBuilder::new().layer(layer(&bench)?.on_refused(proxy::problem)).service_fn(handler);
    let plain = service_fn(handler).on_refused(proxy::problem);
    for (body, error_type) in [("{}", "OrderError"), ("config", "IdempotencyConfig")] {
        let text = plain_request(Some("k"), body)?;
        for error in [failure(invoke(&guarded, &text).await)?, failure(invoke(&plain, &text).await)?] {
            assert!(error.error_type.ends_with(error_type), "{error:?}");
        }
    }
    // Whoever makes the responses decides what has one.
    let silent = ServiceBuilder::new().layer(layer(&bench)?.on_refused(|_| None)).service_fn(handler);
    assert_eq!(
        failure(invoke(&silent, &plain_request(None, "{}")?).await)?.error_type,
        "IdempotencyMissingKey"
    );
    // And without anybody, nothing has.
    let before = ServiceBuilder::new().layer(layer(&bench)?).service_fn(handler);
    assert_eq!(
        failure(invoke(&before, &plain_request(None, "{}")?).await)?.error_type,
        "IdempotencyMissingKey"
    );
    assert_eq!(bench.count().await?, 0);
    Ok(())
}

/// As the page about HTTP shows it.
fn answer(error: &Error) -> Option<Value> {
    match error {
        Error::TransactionRefused { .. } => Some(json!({"statusCode": 409, "body": "sold out"})),
        error => {
            let mut response = proxy::problem_at(error, "https://api.example.com/problems#")?;
            proxy::set_header(&mut response, "access-control-allow-origin", "https://shop.example.com");
            Some(response)
        }
    }
}

#[tokio::test]
async fn responses_can_be_ones_own() -> TestResult {
    let bench = Bench::memory();
    let handler = |_: LambdaEvent<Value>| async {
        let id = compute_id("stock", "id", &json!({"id": 1}))?;
        Err::<Value, _>(OrderError::Idempotency(Error::TransactionRefused { id, reasons: Vec::new() }))
    };
    let layer = layer(&bench)?.on_refused(answer);
    let service = ServiceBuilder::new().layer(layer).service_fn(handler);
    for (taker, event) in takers() {
        let sold_out = invoke(&service, &request(&event, Some("k"), "{}")?).await.map_err(said)?;
        assert_eq!(sold_out, json!({"statusCode": 409, "body": "sold out"}), "{taker}");
        let missing = invoke(&service, &request(&event, None, "{}")?).await.map_err(said)?;
        assert_eq!(told(taker, &missing)?, (400, "idempotency-key-required".to_owned()), "{taker}");
        let origin = header(taker, &missing, "access-control-allow-origin");
        assert_eq!(origin, Some("https://shop.example.com"), "{taker}");
    }
    Ok(())
}

#[tokio::test]
async fn trouble_with_the_store_is_a_503_where_it_passes_and_an_error_where_it_does_not() -> TestResult {
    let clock = Arc::new(ManualClock::at(NOW));
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let handler = |_: LambdaEvent<Value>| async { Ok::<_, OrderError>(json!({"statusCode": 201})) };
    let layer = layer_on(store.clone(), clock)?.on_refused(proxy::problem);
    let service = ServiceBuilder::new().layer(layer).service_fn(handler);
    let text = plain_request(Some("k"), "{}")?;

    // It is asked twice.
    store.break_next(Verb::Claim, Fault::Throttle);
    store.break_next(Verb::Claim, Fault::Throttle);
    let response = invoke(&service, &text).await.map_err(said)?;
    assert_eq!(told("", &response)?, (503, "temporarily-unavailable".to_owned()));
    assert_eq!(header("", &response, "retry-after"), Some("5"));
    store.break_next(Verb::Claim, Fault::Deny);
    assert_eq!(failure(invoke(&service, &text).await)?.error_type, "IdempotencyStore");
    // The function ran, and only an alarm helps.
    store.break_next(Verb::Complete, Fault::Deny);
    assert_eq!(failure(invoke(&service, &text).await)?.error_type, "IdempotencyNotRecorded");
    Ok(())
}

#[idempotent(key = "body", input = event, name = "orders.charge")]
async fn charge(event: &Value, work: &Work) -> Result<usize, OrderError> {
    let _ = event;
    Ok(work.run_held().await)
}

#[tokio::test]
async fn a_refusal_of_a_guarded_function_inside_the_handler_is_answered_and_not_recorded() -> TestResult {
    let (bench, work) = (Bench::memory(), Work::new());
    let inside = work.clone();
    let handler = move |event: LambdaEvent<Value>| {
        let work = inside.clone();
        async move {
            let runs = charge(&event.payload, &work).await?;
            Ok::<_, OrderError>(json!({"statusCode": 201, "body": runs.to_string()}))
        }
    };
    let service = ServiceBuilder::new().layer(layer(&bench)?.on_refused(proxy::problem)).service_fn(handler);
    let inner = Arc::new(MemoryStore::new());
    let one = async |key: &str| -> Result<Value, Failure> {
        let text = plain_request(Some(key), "order-1")?;
        let call = scope(inner.clone(), bench.clock.clone(), async { invoke(&service, &text).await });
        Ok(call.await.map_err(said)?)
    };
    // Two requests, each with a key of its own, for one charge.
    let first = one("k-1");
    tokio::pin!(first);
    tokio::select! {
        answer = &mut first => return Err(format!("{answer:?}").into()),
        entered = work.entered() => entered?,
    }
    assert_eq!(told("", &one("k-2").await?)?, (409, "idempotency-key-in-use".to_owned()));
    assert_eq!(bench.count().await?, 1, "the second request's key is given back");
    work.go_on();
    assert_eq!(told("", &first.await?)?.0, 201);
    assert_eq!(told("", &one("k-2").await?)?.0, 201, "the one charge is the answer to both");
    assert_eq!((work.runs(), bench.count().await?, inner.records().len()), (1, 2, 1));
    Ok(())
}

#[tokio::test]
async fn within_a_guarded_call_a_refusal_is_an_error_so_that_it_is_not_recorded() -> TestResult {
    let bench = Bench::memory();
    let outer = || -> Result<IdempotencyLayer<Box<RawValue>>, Failure> {
        let outer = IdempotencyLayer::new(bench.store.clone(), Key::parse("body")?, Policy::new())?;
        Ok(outer.name("outer")?.clock(bench.clock.clone()).on_refused(proxy::problem))
    };
    let as_error = |error: Diagnostic| Failure::from(error.error_type);
    let text = plain_request(None, "{}")?;

    let handler = tower::service_fn(|_: LambdaEvent<Value>| async { Ok::<_, OrderError>(json!({})) });
    let inner = layer(&bench)?.on_refused(proxy::problem).layer(handler);
    let service = outer()?.layer(inner.map_err(as_error));
    assert_eq!(failure(invoke(&service, &text).await)?.error_message, "IdempotencyMissingKey");
    assert_eq!(bench.count().await?, 0, "400 is nobody's answer for a day");

    let inner = service_fn(create).on_refused(proxy::problem);
    let service = outer()?.layer(inner.map_err(as_error));
    let error = failure(bench.run(async { invoke(&service, &text).await }).await)?;
    assert_eq!(error.error_message, "IdempotencyMissingKey");
    assert_eq!(bench.count().await?, 0);
    Ok(())
}

#[tokio::test]
async fn an_event_that_does_not_fit_the_handler_stays_an_error() -> TestResult {
    let bench = Bench::memory();
    let layer = IdempotencyLayer::<u8>::new(bench.store.clone(), Key::parse(KEY)?, Policy::new())?;
    let handler = |_: LambdaEvent<u8>| async { Ok::<_, OrderError>(json!({})) };
    let guarded = ServiceBuilder::new().layer(layer.on_refused(proxy::problem)).service_fn(handler);
    let plain = service_fn(handler).on_refused(proxy::problem);
    let text = plain_request(Some("canary"), "{}")?;
    for error in [failure(invoke(&guarded, &text).await)?, failure(invoke(&plain, &text).await)?] {
        assert_eq!(error.error_type, "IdempotencyUnreadableEvent");
        assert!(!error.error_message.contains("canary"), "{}", error.error_message);
    }
    Ok(())
}
