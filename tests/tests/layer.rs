//! The tower layer, and that engine, macro and layer are one thing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use lambda_idempotency::{
    Attempt, Engine, Error, IdempotencyLayer, IdempotencyService, Key, MemoryStore, Policy, Raw, RunError,
    idempotent,
};
use lambda_idempotency_tests::{Bench, NOW, ORDER_KEY, TestResult, Work, edited_order, order, sqs_event};
use lambda_runtime::{Context, Diagnostic, LambdaEvent};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};

const NAME: &str = "orders.submit";

#[derive(Debug, thiserror::Error)]
enum OrderError {
    #[error("idempotency")]
    Idempotency(#[from] Error),
    #[error("the provider said no")]
    Provider,
}

fn layer<A>(bench: &Bench) -> Result<IdempotencyLayer<A>, Box<dyn std::error::Error + Send + Sync>> {
    let layer = IdempotencyLayer::new(bench.store.clone(), Key::parse(ORDER_KEY)?, Policy::new())?;
    Ok(layer.name(NAME)?.clock(bench.clock.clone()))
}

/// An event as the runtime hands it on, with twenty seconds left.
fn event(text: impl Into<String>) -> Result<LambdaEvent<Box<RawValue>>, serde_json::Error> {
    let mut context = Context::default();
    context.deadline = u64::try_from(NOW.get()).unwrap_or_default() + 20_000;
    Ok(LambdaEvent::new(RawValue::from_string(text.into())?, context))
}

/// One invocation.
async fn invoke<S>(service: &S, text: impl Into<String>) -> Result<String, Diagnostic>
where
    S: Service<LambdaEvent<Box<RawValue>>, Response = Box<RawValue>, Error = Diagnostic> + Clone,
{
    let event = event(text).map_err(|error| Diagnostic {
        error_type: "the test's event".to_owned(),
        error_message: error.to_string(),
    })?;
    service.clone().oneshot(event).await.map(|answer| answer.get().to_owned())
}

fn error_type(result: Result<String, Diagnostic>) -> String {
    match result {
        Ok(answer) => format!("an answer: {answer}"),
        Err(error) => error.error_type,
    }
}

/// Whether `run` would take it.
fn is_a_handler<S>(service: S) -> S
where
    S: Service<LambdaEvent<Box<RawValue>>, Future: Send> + Clone + Send + Sync + 'static,
    S::Response: Serialize,
    S::Error: std::fmt::Debug + Into<Diagnostic>,
{
    service
}

#[tokio::test]
async fn a_replay_is_the_very_bytes_of_the_first_answer() -> TestResult {
    // Neither a number's spelling nor the order of members survives a `Value` for sure.
    let text = r#"{"z":1.0e2,"a":[1.50,-0,0.1e-7],"m":"ü\u0041","big":123456789012345678901234567890}"#;
    let (bench, work) = (Bench::memory(), Work::new());
    let inside = work.clone();
    let handler = move |_: LambdaEvent<Value>| {
        inside.run();
        async move { RawValue::from_string(text.to_owned()) }
    };
    let service = is_a_handler(ServiceBuilder::new().layer(layer(&bench)?).service_fn(handler));
    for _ in 0..3 {
        assert_eq!(invoke(&service, order().to_string()).await.map_err(|error| error.error_type)?, text);
    }
    assert_eq!((work.runs(), bench.count().await?), (1, 1));
    Ok(())
}

#[derive(Debug, Deserialize)]
struct Order {
    order_id: u64,
}

#[derive(Debug, Serialize)]
struct Receipt {
    run: usize,
    order_id: u64,
    price: f64,
}

#[tokio::test]
async fn a_typed_handler_needs_no_raw_and_its_answer_only_serialises() -> TestResult {
    let (bench, work) = (Bench::memory(), Work::new());
    let inside = work.clone();
    let handler = move |event: LambdaEvent<Order>| {
        let run = inside.run();
        async move { Ok::<_, OrderError>(Receipt { run, order_id: event.payload.order_id, price: 100.0 }) }
    };
    let service = is_a_handler(ServiceBuilder::new().layer(layer(&bench)?).service_fn(handler));
    let first = invoke(&service, order().to_string()).await.map_err(|error| error.error_type)?;
    assert_eq!(first, r#"{"run":1,"order_id":77,"price":100.0}"#);
    // The key has a member that the type does not know.
    let spelled_otherwise = r#"{ "version": 3.0, "instruction": "15s teaser", "order_id": 7.7e1 }"#;
    let misfit = invoke(&service, spelled_otherwise).await;
    assert_eq!(error_type(misfit), "IdempotencyUnreadableEvent", "7.7e1 is no u64");
    let spelled_otherwise = r#"{ "version": 3.0, "instruction": "15s teaser", "order_id": 77 }"#;
    assert_eq!(invoke(&service, spelled_otherwise).await.map_err(|error| error.error_type)?, first);
    let next_version = r#"{"order_id": 77, "version": 4, "instruction": "15s teaser"}"#;
    assert_ne!(invoke(&service, next_version).await.map_err(|error| error.error_type)?, first);
    assert_eq!(work.runs(), 2);
    Ok(())
}

#[tokio::test]
async fn an_event_that_does_not_fit_the_handler_is_refused_before_the_claim() -> TestResult {
    let (bench, work) = (Bench::memory(), Work::new());
    let inside = work.clone();
    let handler = move |_: LambdaEvent<Order>| {
        let run = inside.run();
        async move { Ok::<_, OrderError>(run) }
    };
    let service = ServiceBuilder::new().layer(layer(&bench)?).service_fn(handler);
    let misfit = r#"{"order_id": "secret-77", "version": 3}"#;
    let error = invoke(&service, misfit).await.err().ok_or("it took it")?;
    assert_eq!(error.error_type, "IdempotencyUnreadableEvent");
    assert!(error.error_message.contains("line 1 column"), "{}", error.error_message);
    assert!(!error.error_message.contains("secret"), "{}", error.error_message);
    assert_eq!((work.runs(), bench.count().await?), (0, 0));
    Ok(())
}

#[tokio::test]
async fn errors_have_the_names_that_alarms_know() -> TestResult {
    let bench = Bench::memory();
    let held = Work::new();
    let inside = held.clone();
    let handler = move |event: LambdaEvent<Value>| {
        let work = inside.clone();
        async move {
            match event.payload["order_id"].as_u64() {
                Some(77) => Ok(work.run_held().await),
                _ => Err(OrderError::Provider),
            }
        }
    };
    let service = ServiceBuilder::new().layer(layer(&bench)?).service_fn(handler);
    let (first, same) = (service.clone(), order().to_string());
    let first = tokio::spawn(async move { invoke(&first, same).await });
    held.entered().await?;
    let busy = invoke(&service, order().to_string()).await;
    assert_eq!(error_type(busy), "IdempotencyAlreadyInProgress");
    let mismatch = invoke(&service, edited_order().to_string()).await;
    assert_eq!(error_type(mismatch), "IdempotencyPayloadMismatch");
    held.go_on();
    first.await?.map_err(|error| error.error_type)?;

    let missing = invoke(&service, r#"{"order_id": 77}"#).await;
    assert_eq!(error_type(missing), "IdempotencyMissingKey");
    let own = invoke(&service, r#"{"order_id": 1, "version": 1}"#).await.err().ok_or("it succeeded")?;
    assert!(own.error_type.ends_with("OrderError"), "as `lambda_runtime` names it: {}", own.error_type);
    assert_eq!(own.error_message, "the provider said no");
    assert_eq!(bench.count().await?, 1, "a failure gives its key back");
    Ok(())
}

#[tokio::test]
async fn an_event_of_several_records_is_refused() -> TestResult {
    let (bench, work) = (Bench::memory(), Work::new());
    let inside = work.clone();
    let handler = move |_: LambdaEvent<Value>| {
        let run = inside.run();
        async move { Ok::<_, OrderError>(run) }
    };
    let layer = IdempotencyLayer::new(bench.store.clone(), Key::parse("Records[0].body")?, Policy::new())?;
    let service = ServiceBuilder::new().layer(layer.clock(bench.clock.clone())).service_fn(handler);
    let two = sqs_event(&[("m-1", "{}"), ("m-2", "{}")]);
    let error = invoke(&service, two.to_string()).await.err().ok_or("it took both for one")?;
    assert_eq!(error.error_type, "IdempotencySeveralRecords");
    assert!(error.error_message.contains("batch::sqs"), "{}", error.error_message);
    assert_eq!((work.runs(), bench.count().await?), (0, 0));
    let one = sqs_event(&[("m-1", "{}")]);
    assert_eq!(invoke(&service, one.to_string()).await.map_err(|error| error.error_type)?, "1");
    Ok(())
}

/// A handler service that insists on what tower promises: ready before each call, and the one that was
/// ready is called.
#[derive(Debug)]
struct Strict {
    open: Arc<AtomicBool>,
    ready: bool,
}

impl Clone for Strict {
    fn clone(&self) -> Self {
        Self { open: self.open.clone(), ready: false }
    }
}

impl Service<LambdaEvent<Value>> for Strict {
    type Response = Value;
    type Error = OrderError;
    type Future = std::future::Ready<Result<Value, OrderError>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), OrderError>> {
        if !self.open.load(Ordering::SeqCst) {
            return Poll::Pending;
        }
        self.ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, event: LambdaEvent<Value>) -> Self::Future {
        assert!(std::mem::take(&mut self.ready), "called before it was ready");
        std::future::ready(Ok(event.payload))
    }
}

#[tokio::test]
async fn readiness_is_that_of_the_handler() -> TestResult {
    let bench = Bench::memory();
    let open = Arc::new(AtomicBool::new(false));
    let mut service = layer(&bench)?.layer(Strict { open: open.clone(), ready: false });
    assert!(futures_util::poll!(std::pin::pin!(service.ready())).is_pending());
    open.store(true, Ordering::SeqCst);
    for version in 1..4 {
        let text = json!({"order_id": 77, "version": version}).to_string();
        let answer = service.ready().await.map_err(|error| error.error_type)?.call(event(&*text)?).await;
        assert_eq!(answer.map_err(|error| error.error_type)?.get(), text);
    }
    Ok(())
}

#[tokio::test]
async fn a_handler_that_cannot_get_ready_says_so_in_its_own_words() -> TestResult {
    #[derive(Clone, Debug)]
    struct Broken;
    impl Service<LambdaEvent<Value>> for Broken {
        type Response = Value;
        type Error = OrderError;
        type Future = std::future::Ready<Result<Value, OrderError>>;
        fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), OrderError>> {
            Poll::Ready(Err(OrderError::Provider))
        }
        fn call(&mut self, _: LambdaEvent<Value>) -> Self::Future {
            std::future::ready(Err(OrderError::Provider))
        }
    }
    let bench = Bench::memory();
    let error =
        invoke(&layer(&bench)?.layer(Broken), order().to_string()).await.err().ok_or("it was ready")?;
    assert_eq!(error.error_message, "the provider said no");
    assert_eq!(bench.count().await?, 0);
    Ok(())
}

#[tokio::test]
async fn layer_and_service_are_cloned_whatever_the_event_type_is() -> TestResult {
    /// Not `Clone`.
    #[derive(Debug, Deserialize)]
    struct Event;
    let bench = Bench::memory();
    let layer: IdempotencyLayer<Event> = layer(&bench)?;
    let handler = |_: LambdaEvent<Event>| async { Ok::<_, OrderError>(()) };
    let one = layer.clone().layer(service_fn(handler));
    let two: IdempotencyService<_, Event> = one.clone();
    assert!(format!("{two:?}").contains("IdempotencyService"));
    let _whole = is_a_handler(two);
    Ok(())
}

#[tokio::test]
async fn many_invocations_at_once_are_one_execution() -> TestResult {
    let (bench, work) = (Bench::memory(), Work::new());
    let inside = work.clone();
    let handler = move |_: LambdaEvent<Value>| {
        let work = inside.clone();
        async move { Ok::<_, OrderError>(work.run_held().await) }
    };
    let service = ServiceBuilder::new().layer(layer(&bench)?).service_fn(handler);
    let (first, same) = (service.clone(), order().to_string());
    let first = tokio::spawn(async move { invoke(&first, same).await });
    work.entered().await?;
    let calls = (0..64).map(|_| invoke(&service, order().to_string()));
    let types: Vec<_> = futures_util::future::join_all(calls).await.into_iter().map(error_type).collect();
    assert!(types.iter().all(|name| name == "IdempotencyAlreadyInProgress"), "{types:?}");
    work.go_on();
    assert_eq!(first.await?.map_err(|error| error.error_type)?, "1");
    let calls = (0..64).map(|_| invoke(&service, order().to_string()));
    for answer in futures_util::future::join_all(calls).await {
        assert_eq!(answer.map_err(|error| error.error_type)?, "1");
    }
    assert_eq!(work.runs(), 1);
    Ok(())
}

#[idempotent(key = "order_id", input = order, name = "orders.charge", store = store.clone())]
async fn charge(order: &Value, store: &Arc<MemoryStore>) -> Result<(String, i64), OrderError> {
    let attempt = Attempt::current().ok_or(OrderError::Provider)?;
    let id = attempt.record_id().ok_or(OrderError::Provider)?.to_string();
    let _ = order;
    Ok((id, attempt.lease_end().get()))
}

#[tokio::test]
async fn a_function_inside_a_guarded_handler_has_a_record_and_an_attempt_of_its_own() -> TestResult {
    let (bench, inner) = (Bench::memory(), Arc::new(MemoryStore::new()));
    let handler = {
        let inner = inner.clone();
        move |event: LambdaEvent<Value>| {
            let inner = inner.clone();
            async move {
                let before =
                    Attempt::current().and_then(|attempt| attempt.record_id().map(ToString::to_string));
                let charged = charge(&event.payload, &inner).await?;
                let after =
                    Attempt::current().and_then(|attempt| attempt.record_id().map(ToString::to_string));
                assert_eq!(before, after, "the outer attempt is back");
                Ok::<_, OrderError>((before, charged))
            }
        }
    };
    let service = ServiceBuilder::new().layer(layer(&bench)?).service_fn(handler);
    let clock = bench.clock.clone();
    let call =
        lambda_idempotency::testing::scope(bench.store.clone(), clock, invoke(&service, order().to_string()));
    let (outer, (charge, lease_end)): (String, (String, i64)) =
        serde_json::from_str(&call.await.map_err(|error| error.error_type)?)?;
    assert!(outer.starts_with("orders.submit#") && charge.starts_with("orders.charge#"), "{outer} {charge}");
    assert_eq!((bench.count().await?, inner.records().len()), (1, 1));
    // The deadline of the invocation reaches the inner function without a global.
    assert_eq!(lease_end, NOW.get() / 1000 * 1000 + 250 + 20_000);
    Ok(())
}

/// The three ways to guard one piece of work.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Engine,
    Macro,
    Layer,
}

/// What the work does.
#[derive(Clone, Copy, Debug)]
enum Act {
    Succeed,
    Fail,
    Panic,
    Hold,
}

async fn act(work: &Work, act: Act) -> Result<String, OrderError> {
    match act {
        Act::Succeed => Ok(format!("run-{}", work.run())),
        Act::Fail => {
            work.run();
            Err(OrderError::Provider)
        }
        Act::Panic => panic!("run-{}, as the test says", work.run()),
        Act::Hold => Ok(format!("run-{}", work.run_held().await)),
    }
}

#[idempotent(key = "[order_id, version]", input = order, name = "orders.submit")]
async fn submit(order: &Raw<Value>, work: &Work, what: Act) -> Result<String, OrderError> {
    let _ = order;
    act(work, what).await
}

fn engine(bench: &Bench) -> Result<Engine, Error> {
    bench.engine(NAME, ORDER_KEY)
}

/// The answer, or the error's name.
async fn call(bench: &Bench, way: Way, text: &str, work: &Work, what: Act) -> Result<String, String> {
    let said = |error: &dyn std::fmt::Display| format!("the test: {error}");
    match way {
        Way::Engine => {
            let input = Raw::<Value>::from_json(text).map_err(|error| said(&error))?;
            let engine = engine(bench).map_err(|error| said(&error))?;
            let outcome = engine.run(&input, |_| act(work, what)).await;
            match outcome {
                Ok(outcome) => outcome.into_value().ok_or_else(|| "Skipped".to_owned()),
                Err(RunError::Idempotency(error)) => Err(error.name().to_owned()),
                Err(_) => Err("Provider".to_owned()),
            }
        }
        Way::Macro => {
            let input = Raw::<Value>::from_json(text).map_err(|error| said(&error))?;
            let work = work.clone();
            bench.run(async move { submit(&input, &work, what).await }).await.map_err(|error| match error {
                OrderError::Idempotency(error) => error.name().to_owned(),
                OrderError::Provider => "Provider".to_owned(),
            })
        }
        Way::Layer => {
            let work = work.clone();
            let handler = move |_: LambdaEvent<Value>| {
                let work = work.clone();
                async move { act(&work, what).await }
            };
            let layer = layer(bench).map_err(|error| said(&error))?;
            let service = ServiceBuilder::new().layer(layer).service_fn(handler);
            let payload = RawValue::from_string(text.to_owned()).map_err(|error| said(&error))?;
            // Without a deadline, as the other two.
            let event = LambdaEvent::new(payload, Context::default());
            match service.oneshot(event).await {
                Ok(answer) => serde_json::from_str(answer.get()).map_err(|error| said(&error)),
                Err(error) => Err(match error.error_type.strip_prefix("Idempotency") {
                    Some(name) => name.to_owned(),
                    None => "Provider".to_owned(),
                }),
            }
        }
    }
}

/// The scenarios, each on a new bench, for calls in the ways `one` and `two` by turns.
async fn behaves(one: Way, two: Way) -> TestResult {
    let text = order().to_string();
    let ok = |answer: &str| Ok::<_, String>(answer.to_owned());
    let err = |name: &str| Err::<String, _>(name.to_owned());

    // One answer for all who ask, however they spell it; other content is refused; a new version is new work.
    let (bench, work) = (Bench::memory(), Work::new());
    assert_eq!(call(&bench, one, &text, &work, Act::Succeed).await, ok("run-1"));
    assert_eq!(call(&bench, two, &text, &work, Act::Succeed).await, ok("run-1"));
    let spelled_otherwise = r#"{"version":3.00, "instruction":"\u0031\u0035s teaser", "order_id":7.7e1}"#;
    assert_eq!(call(&bench, two, spelled_otherwise, &work, Act::Succeed).await, ok("run-1"));
    let edited = edited_order().to_string();
    assert_eq!(call(&bench, two, &edited, &work, Act::Succeed).await, err("PayloadMismatch"));
    let next = r#"{"order_id":77,"version":4,"instruction":"15s teaser"}"#;
    assert_eq!(call(&bench, two, next, &work, Act::Succeed).await, ok("run-2"));
    assert_eq!(bench.count().await?, 2);
    // A day after its completion, to the end of that second, it is forgotten.
    bench.clock.advance(Duration::from_secs(24 * 3600 + 2));
    assert_eq!(call(&bench, two, &text, &work, Act::Succeed).await, ok("run-3"));

    // Without a key nothing runs and nothing is stored.
    let (bench, work) = (Bench::memory(), Work::new());
    for text in [
        r#"{"order_id":77}"#,
        r#"{"order_id":77,"version":null}"#,
        r#"{"order_id":"","version":1}"#,
        "[]",
        "7",
    ] {
        assert_eq!(call(&bench, one, text, &work, Act::Succeed).await, err("MissingKey"), "{text}");
    }
    let twice = r#"{"order_id":77,"version":3,"order_id":78}"#;
    assert_eq!(call(&bench, one, twice, &work, Act::Succeed).await, err("InvalidKey"));
    assert_eq!((work.runs(), bench.count().await?), (0, 0));

    // A failure gives the key back, and so does a panic.
    assert_eq!(call(&bench, one, &text, &work, Act::Fail).await, err("Provider"));
    assert_eq!(bench.count().await?, 0);
    let panicked = futures_util::FutureExt::catch_unwind(std::panic::AssertUnwindSafe(call(
        &bench,
        two,
        &text,
        &work,
        Act::Panic,
    )));
    assert!(panicked.await.is_err());
    assert_eq!(bench.count().await?, 0);
    assert_eq!(call(&bench, one, &text, &work, Act::Succeed).await, ok("run-3"));

    // While one is at work the others come back later; one whose future was dropped is taken over.
    let (bench, work, held) = (Bench::memory(), Work::new(), Work::new());
    {
        let first = call(&bench, one, &text, &held, Act::Hold);
        tokio::pin!(first);
        tokio::select! {
            answer = &mut first => panic!("{answer:?}"),
            entered = held.entered() => entered?,
        }
        assert_eq!(call(&bench, two, &text, &work, Act::Succeed).await, err("AlreadyInProgress"));
        assert_eq!(call(&bench, two, &edited, &work, Act::Succeed).await, err("PayloadMismatch"));
    }
    assert_eq!(call(&bench, two, &text, &work, Act::Succeed).await, err("AlreadyInProgress"));
    bench.clock.advance(Duration::from_secs(900 + 2 + 1));
    assert_eq!(call(&bench, two, &text, &work, Act::Succeed).await, ok("run-1"));
    assert_eq!((held.runs(), work.runs()), (1, 1));
    Ok(())
}

#[tokio::test]
async fn engine_macro_and_layer_behave_the_same_and_share_their_records() -> TestResult {
    for one in [Way::Engine, Way::Macro, Way::Layer] {
        for two in [Way::Engine, Way::Macro, Way::Layer] {
            behaves(one, two).await.map_err(|error| format!("{one:?} and {two:?}: {error}"))?;
        }
    }
    Ok(())
}
