//! Counters of what became of each call, through the observer that is installed. It is one for the process, hence
//! one test.

use std::io::Write;
use std::sync::{Arc, Mutex};

use lambda_idempotency::{
    EmfMetrics, Error, IdempotencyLayer, Key, Policy, idempotent, install_observer, proxy,
};
use lambda_idempotency_tests::{Bench, TestResult, Work};
use lambda_runtime::{Context, LambdaEvent};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tower::{Layer, ServiceExt, service_fn};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().map_err(|_| std::io::ErrorKind::Other)?.write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[idempotent(key = "id", input = order, name = "orders.counted")]
async fn submit(order: &Value, work: &Work) -> Result<usize, Error> {
    Ok(work.run())
}

#[tokio::test]
async fn each_call_is_one_line_that_cloudwatch_counts() -> TestResult {
    let lines = Lines::default();
    install_observer(EmfMetrics::to("orders", lines.clone()))?;
    let again = install_observer(EmfMetrics::new("orders")).err().ok_or("installed twice")?;
    assert!(again.to_string().contains("install_observer"), "{again}");

    let (bench, work) = (Bench::memory(), Work::new());
    let canary = "canary-in-the-payload";
    for order in [json!({"id": canary}), json!({"id": canary}), json!({"id": canary, "x": 1}), json!({})] {
        let _ = bench.run(submit(&order, &work)).await;
    }
    let layer = IdempotencyLayer::<Value>::new(bench.store.clone(), Key::parse("id")?, Policy::new())?;
    let service = layer.layer(service_fn(|_: LambdaEvent<Value>| async { Ok::<_, Error>(1) }));
    let event = LambdaEvent::new(RawValue::from_string(json!({"id": 1}).to_string())?, Context::default());
    service.oneshot(event).await.map_err(|error| error.error_message)?;

    // A refusal that is answered counts as well: the metric `Errors` of Lambda does not see it.
    let layer = IdempotencyLayer::<Value>::new(bench.store.clone(), Key::parse("id")?, Policy::new())?;
    let layer = layer.on_refused(proxy::problem);
    let service = layer.layer(service_fn(|_: LambdaEvent<Value>| async { Ok::<_, Error>(1) }));
    let request = json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": "/",
        "rawQueryString": "",
        "requestContext": {
            "apiId": "a",
            "domainName": "a.lambda-url.us-east-1.on.aws",
            "requestId": "r",
            "stage": "$default",
            "http": {"method": "POST", "path": "/"},
        },
        "body": canary,
    });
    let event = LambdaEvent::new(RawValue::from_string(request.to_string())?, Context::default());
    let response = service.oneshot(event).await.map_err(|error| error.error_message)?;
    assert!(response.get().contains("idempotency-key-required"), "{response}");

    let text = String::from_utf8(lines.0.lock().map_err(|_| "poisoned")?.clone())?;
    assert!(!text.contains(canary), "{text}");
    let said: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let counted = |line: &Value| -> Option<(String, String)> {
        let directive = &line["_aws"]["CloudWatchMetrics"][0];
        assert_eq!(
            (&directive["Namespace"], &directive["Dimensions"]),
            (&json!("orders"), &json!([["function"]]))
        );
        assert!(line["_aws"]["Timestamp"].as_i64().is_some_and(|at| at > 1_700_000_000_000), "{line}");
        let name = directive["Metrics"][0]["Name"].as_str()?;
        assert_eq!((line[name].as_i64(), &directive["Metrics"][0]["Unit"]), (Some(1), &json!("Count")));
        Some((line["function"].as_str()?.to_owned(), name.to_owned()))
    };
    let counted: Vec<_> = said.iter().filter_map(counted).collect();
    let expected =
        ["Executed", "Replayed", "PayloadMismatch", "MissingKey"].map(|name| ("orders.counted", name));
    let expected = expected.into_iter().chain([("handler", "Executed"), ("handler", "MissingKey")]);
    assert!(counted.iter().map(|(function, name)| (&**function, &**name)).eq(expected), "{counted:?}");
    assert!(said[0]["record_id"].as_str().is_some_and(|id| id.starts_with("orders.counted#")), "{text}");
    Ok(())
}
