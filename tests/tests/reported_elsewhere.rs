//! What went wrong in other libraries of this kind, through the public API.

use std::io;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use lambda_idempotency::dynamodb::{AttributeNames, Writes};
use lambda_idempotency::{
    Aes256Gcm, Attempt, DynamoDbStore, Engine, Error, Key, Lease, OnError, Policy, Raw, RunError, Typed,
    batch, idempotent,
};
use lambda_idempotency_tests::{
    Bench, JobError, ORDER_KEY, TABLE, TestResult, Work, client, name_of, on_both_stores, order, sqs_event,
};
use lambda_runtime::{Context, LambdaEvent};
use serde_json::{Value, json};

on_both_stores!(
    functions_that_open_a_body_do_so_in_key_and_fingerprint,
    a_body_that_is_spelled_anew_is_other_content_unless_it_is_opened,
    a_function_that_changes_its_input_completes_and_releases_its_own_record,
    results_of_any_kind_replay_as_they_were,
    a_caller_never_sees_what_belongs_to_another,
);

#[idempotent(
    key = "powertools_json(body).id",
    fingerprint = "powertools_json(body).amount",
    input = event,
    name = "opened"
)]
async fn opened(event: &Value, work: &Work) -> Result<usize, Error> {
    Ok(work.run())
}

async fn functions_that_open_a_body_do_so_in_key_and_fingerprint(bench: Bench) -> TestResult {
    let work = Work::new();
    let call = |body: &str| {
        let (event, work) = (json!({"body": body}), work.clone());
        bench.run(async move { opened(&event, &work).await })
    };
    assert_eq!(call(r#"{"id":1,"amount":5}"#).await?, 1);
    assert_eq!(call(r#"{ "amount": 5.0,  "id": 1 }"#).await?, 1);
    let other = call(r#"{"id":1,"amount":6}"#).await;
    assert!(matches!(&other, Err(Error::PayloadMismatch { .. })), "{other:?}");
    assert_eq!(call(r#"{"id":2,"amount":6}"#).await?, 2);
    Ok(())
}

#[idempotent(key = "powertools_json(body).[user, order]", input = event, name = "as-text")]
async fn as_text(event: &Value, work: &Work) -> Result<usize, Error> {
    Ok(work.run())
}

#[idempotent(
    key = "powertools_json(body).[user, order]",
    fingerprint = "powertools_json(body)",
    input = event,
    name = "as-json"
)]
async fn as_json(event: &Value, work: &Work) -> Result<usize, Error> {
    Ok(work.run())
}

async fn a_body_that_is_spelled_anew_is_other_content_unless_it_is_opened(bench: Bench) -> TestResult {
    let request = |id: &str, body: &str| {
        json!({
            "version": "2.0", "routeKey": "$default", "rawPath": "/orders", "rawQueryString": "",
            "headers": {"x-amzn-trace-id": id},
            "requestContext": {
                "apiId": "a", "domainName": "a.execute-api.us-east-1.amazonaws.com", "stage": "$default",
                "requestId": id, "http": {"method": "POST", "path": "/orders"},
            },
            "body": body, "isBase64Encoded": false,
        })
    };
    let first = request("1", r#"{"user":"u1","order":7}"#);
    let again = request("2", r#"{"user":"u1","order":7}"#);
    let anew = request("3", "{ \"order\": 7,\n \"user\": \"u1\" }");
    let (text, json) = (Work::new(), Work::new());
    assert_eq!(bench.run(as_text(&first, &text)).await?, 1);
    assert_eq!(bench.run(as_text(&again, &text)).await?, 1);
    let refused = bench.run(as_text(&anew, &text)).await;
    assert!(matches!(&refused, Err(Error::PayloadMismatch { .. })), "{refused:?}");
    for event in [&first, &again, &anew] {
        assert_eq!(bench.run(as_json(event, &json)).await?, 1);
    }
    Ok(())
}

#[idempotent(key = "id", input = order, name = "changed")]
async fn changed(mut order: Raw<Value>, work: &Work, fails: bool) -> Result<Value, JobError> {
    work.run();
    order["id"] = json!(order["id"].as_str().unwrap_or_default().to_lowercase());
    order["processed"] = json!(true);
    if fails { Err(JobError::Failed) } else { Ok(order.into_inner()) }
}

async fn a_function_that_changes_its_input_completes_and_releases_its_own_record(bench: Bench) -> TestResult {
    let work = Work::new();
    let call = |fails| {
        let (order, work) = (Raw::<Value>::from_json(r#"{"id":"A-1"}"#), work.clone());
        bench.run(async move { changed(order.map_err(|_| JobError::Failed)?, &work, fails).await })
    };
    assert!(matches!(call(true).await, Err(JobError::Failed)));
    assert_eq!(bench.count().await?, 0, "it gave its own key back");
    for _ in 0..2 {
        assert_eq!(call(false).await?, json!({"id": "a-1", "processed": true}));
    }
    assert_eq!((work.runs(), bench.count().await?), (2, 1));
    Ok(())
}

async fn results_of_any_kind_replay_as_they_were(bench: Bench) -> TestResult {
    async fn replays<T>(bench: &Bench, name: &str, value: T) -> TestResult
    where
        T: serde::Serialize + serde::de::DeserializeOwned + Clone + PartialEq + std::fmt::Debug,
    {
        for replayed in [false, true] {
            let engine = bench.engine_of_another_process(name, "id")?;
            let ran = engine.run(&json!({"id": 1}), |_| async { Ok::<_, io::Error>(value.clone()) }).await?;
            assert_eq!(ran.is_replayed(), replayed, "{value:?}");
            assert_eq!(ran.into_value(), Some(value.clone()));
        }
        Ok(())
    }
    replays(&bench, "unit", ()).await?;
    replays(&bench, "none", None::<String>).await?;
    replays(&bench, "zero", 0).await?;
    replays(&bench, "false", false).await?;
    replays(&bench, "empty text", String::new()).await?;
    replays(&bench, "empty list", Vec::<Vec<u8>>::new()).await?;
    replays(&bench, "wide", (u64::MAX, i64::MIN, i128::MAX, i128::MIN)).await?;
    replays(&bench, "fractions", (0.1 + 0.2, f64::MIN_POSITIVE, -0.0, f32::MIN_POSITIVE)).await?;
    replays(&bench, "bytes", (0..1024).map(|n| (n * 37 % 256) as u8).collect::<Vec<_>>()).await?;
    replays(&bench, "text", "ä\u{1F600}\"\\\n\u{0}".to_owned()).await?;
    Ok(())
}

async fn a_caller_never_sees_what_belongs_to_another(bench: Bench) -> TestResult {
    let call = async |key: &str, user: &str| {
        let input = json!({"sub": user, "k": 1});
        let engine = bench.engine(key, key)?;
        Ok::<_, Error>(match engine.run(&input, |_| async { Ok::<_, io::Error>(user.to_owned()) }).await {
            Ok(outcome) => outcome.into_value().unwrap_or_default(),
            other => name_of(&other).to_owned(),
        })
    };
    assert_eq!(
        (call("[sub, k]", "ada").await?, call("[sub, k]", "bob").await?),
        ("ada".into(), "bob".into())
    );
    // With the client's key alone the second one is told, and gets nothing.
    assert_eq!((call("k", "ada").await?, call("k", "bob").await?), ("ada".into(), "PayloadMismatch".into()));
    Ok(())
}

/// Around the 400 KB of an item, names counted in: what fits is stored, what does not is left out, and the
/// table is never asked for what it refuses.
#[tokio::test]
async fn a_result_near_the_limit_of_an_item_is_stored_or_left_out_and_never_lost() -> TestResult {
    const ITEM: usize = 400 * 1024;
    let long = "d".repeat(200);
    for name in ["data", long.as_str()] {
        let mut names = AttributeNames::default();
        names.data = name.to_owned();
        let bench =
            Bench::dynamodb_with(|store| store.attribute_names(names).expect("names"), &["id"]).await?;
        let engine = bench.engine("r", "id")?;
        let run = async |id: usize, result: String| {
            engine.run(&json!({"id": id}), |_| async { Ok::<_, io::Error>(result) }).await
        };
        run(0, String::new()).await?;
        let size =
            |(name, value): (&String, &AttributeValue)| name.len() + value.as_s().map_or(21, String::len);
        let room = ITEM - bench.only_item().await?.iter().map(size).sum::<usize>();
        let mut replays = Vec::new();
        for (id, bytes) in (room - 200..room + 20).step_by(10).enumerate() {
            let first = run(id + 1, "x".repeat(bytes)).await;
            assert_eq!(name_of(&first), "Executed", "{bytes} of {room} bytes");
            replays.push(name_of(&run(id + 1, String::new()).await));
        }
        // The larger ones say that they are not there.
        replays.dedup();
        assert_eq!(replays, ["Replayed", "ResultNotStored"]);
    }
    Ok(())
}

/// Writes that belong to a result too large for an item are applied with the record all the same.
#[tokio::test]
async fn writes_of_a_result_too_large_for_an_item_are_applied_once() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let engine = bench.engine("orders.submit", ORDER_KEY)?;
    let submit = async || {
        engine
            .run(&order(), |attempt: Attempt| async move {
                let put = aws_sdk_dynamodb::types::Put::builder()
                    .table_name(TABLE)
                    .item("id", AttributeValue::S("order-77".into()))
                    .condition_expression("attribute_not_exists(id)")
                    .build()
                    .map_err(io::Error::other)?;
                let write = aws_sdk_dynamodb::types::TransactWriteItem::builder().put(put).build();
                attempt
                    .commit_with(Writes::new([write]).map_err(io::Error::other)?)
                    .map_err(io::Error::other)?;
                Ok::<_, io::Error>("x".repeat(500_000))
            })
            .await
    };
    assert_eq!(submit().await?.into_value().map(|text| text.len()), Some(500_000));
    assert_eq!(bench.count().await?, 2);
    assert_eq!(name_of(&submit().await), "ResultNotStored");
    Ok(())
}

#[tokio::test]
async fn a_table_name_that_cannot_be_one_is_named() -> TestResult {
    let bench = Bench::dynamodb().await?;
    for table in ["no such table!", "ab"] {
        let store = DynamoDbStore::new(client(&bench.proxy().endpoint()), table);
        let engine = Engine::new("orders.submit", store, Key::parse(ORDER_KEY)?)?;
        let work = Work::new();
        let answer = engine.run(&order(), |_| async { Ok::<_, io::Error>(work.run()) }).await;
        let Err(RunError::Idempotency(Error::Store { source, .. })) = &answer else {
            return Err(format!("{answer:?}").into());
        };
        assert!(!source.is_retryable(), "{source}");
        assert!(source.to_string().contains(table), "{source}");
        // Nothing is wrong with these.
        assert!(!source.to_string().contains("credentials"), "{source}");
        assert_eq!(work.runs(), 0);
    }
    Ok(())
}

static TWO_HOURS: Policy = Policy::new().lease(Lease::Fixed(Duration::from_secs(7200)));

#[idempotent(key = "id", input = job, expires_after = "1h", policy = &TWO_HOURS, name = "contradictory")]
async fn contradictory(job: &Value, work: &Work) -> Result<usize, Error> {
    Ok(work.run())
}

#[tokio::test]
async fn a_lease_that_outlasts_the_record_of_an_annotated_function_is_refused_before_it_runs() -> TestResult {
    let (bench, work) = (Bench::memory(), Work::new());
    let refused = bench.run(contradictory(&json!({"id": 1}), &work)).await;
    assert!(matches!(&refused, Err(Error::Config { .. })), "{refused:?}");
    assert_eq!((work.runs(), bench.count().await?), (0, 0));
    Ok(())
}

#[tokio::test]
async fn a_failure_is_given_back_kept_or_stored_as_the_classifier_says() -> TestResult {
    fn classify(error: &String) -> OnError {
        match &**error {
            "declined" => OnError::Store,
            "half done" => OnError::Keep,
            _ => OnError::Release,
        }
    }
    let bench = Bench::dynamodb().await?;
    let results = Typed::<u8, String>::new().store_failures().on_error(classify);
    for (failure, next) in
        [("timeout", "Executed"), ("declined", "FailureReplayed"), ("half done", "AlreadyInProgress")]
    {
        let engine = bench.engine(&failure.replace(' ', "-"), "id")?;
        let input = json!({"id": 1});
        let first = engine.run_with(&input, &results, |_| async { Err(failure.to_owned()) }).await;
        assert!(matches!(&first, Err(RunError::Function(error)) if error == failure), "{first:?}");
        let second = engine.run_with(&input, &results, |_| async { Ok(1) }).await;
        assert_eq!(name_of(&second), next, "{failure}");
    }
    Ok(())
}

/// A row with its id, owner and fingerprint, but in another table.
#[tokio::test]
async fn an_encrypted_result_that_was_moved_to_another_table_is_not_read() -> TestResult {
    let bench = Bench::dynamodb().await?;
    bench.dynamo().create_table("other").await?;
    let work = Work::new();
    let engine = |table: &str| -> Result<Engine, Box<dyn std::error::Error + Send + Sync>> {
        let store = DynamoDbStore::new(client(&bench.proxy().endpoint()), table);
        let engine = Engine::new("orders.submit", store, Key::parse(ORDER_KEY)?)?;
        Ok(engine.clock(bench.clock.clone()).cipher(Aes256Gcm::new(&[7; 32]))?)
    };
    let submit = async |table: &str| -> Result<&'static str, Box<dyn std::error::Error + Send + Sync>> {
        let answer = engine(table)?.run(&order(), |_| async { Ok::<_, io::Error>(work.run()) }).await;
        Ok(name_of(&answer))
    };
    assert_eq!((submit(TABLE).await?, submit(TABLE).await?), ("Executed", "Replayed"));
    let item = bench.only_item().await?;
    bench.dynamo().client().put_item().table_name("other").set_item(Some(item)).send().await?;
    assert_eq!(submit("other").await?, "ReplayDecode");
    assert_eq!(work.runs(), 1);
    Ok(())
}

#[idempotent(key = "order_id", input = order, name = "orders.twice")]
async fn twice(order: &batch::Record<Value>, work: &Work) -> Result<usize, Error> {
    let _ = order;
    Ok(work.run())
}

#[tokio::test]
async fn one_piece_of_work_twice_in_a_batch_is_done_once_and_both_are_acknowledged() -> TestResult {
    let (bench, work) = (Bench::memory(), Work::new());
    let body = r#"{"order_id": 77}"#;
    let event = sqs_event(&[("m-1", body), ("m-2", body), ("m-3", r#"{"order_id": 78}"#)]);
    let event = LambdaEvent::new(serde_json::from_value(event)?, Context::default());
    let response = bench.run(batch::sqs(event, |order: batch::Record<Value>| {
        let work = work.clone();
        async move { twice(&order, &work).await }
    }));
    assert!(response.await?.batch_item_failures.is_empty());
    assert_eq!(work.runs(), 2);
    Ok(())
}
