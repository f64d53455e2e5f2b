//! A table that Powertools for AWS Lambda wrote, in Python or TypeScript, answers a Rust function.
//!
//! The rows were written by the utilities themselves.

#[path = "../../crates/key/tests/fixtures/powertools.rs"]
#[allow(dead_code, reason = "the validation is looked at in the key crate's tests")]
mod powertools;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use lambda_idempotency::decide::Deadline;
use lambda_idempotency::dynamodb::{AttributeNames, SortKey};
use lambda_idempotency::{
    Aes256Gcm, DynamoDbStore, Engine, Error, Fingerprint, IdempotencyLayer, Invocation, Key, MemoryStore,
    Object, Offload, Outcome, Policy, Powertools, PowertoolsHash, ResultMode, RunError, Secret, StoreError,
    compute_id_with, idempotent,
};
use lambda_idempotency_tests::{Bench, Item, TestResult};
use lambda_runtime::LambdaEvent;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tower::{Layer, ServiceExt};

use powertools::{Case, cases};

fn case(name: &str) -> Result<Case, Box<dyn std::error::Error + Send + Sync>> {
    Ok(cases().into_iter().find(|case| case.case == name).ok_or("no such case")?)
}

/// A row, from DynamoDB's JSON.
fn item(json: &Value) -> Item {
    let members = json.as_object().expect("an item");
    members.iter().map(|(name, value)| (name.clone(), attribute(value))).collect()
}

fn attribute(json: &Value) -> AttributeValue {
    let (kind, value) = json.as_object().and_then(|value| value.iter().next()).expect("a value");
    let text = || value.as_str().expect("a text").to_owned();
    match kind.as_str() {
        "S" => AttributeValue::S(text()),
        "N" => AttributeValue::N(text()),
        "BOOL" => AttributeValue::Bool(value.as_bool().expect("a boolean")),
        "NULL" => AttributeValue::Null(true),
        "L" => AttributeValue::L(value.as_array().expect("a list").iter().map(attribute).collect()),
        "M" => AttributeValue::M(item(value)),
        other => panic!("{other}"),
    }
}

/// The Rust function in the other one's place.
fn engine(bench: &Bench, case: &Case, powertools: Powertools, name: &str) -> Result<Engine, Error> {
    let config = |message: String| Error::Config { message };
    let key = Key::parse_allowing_volatile(&case.key).map_err(|error| config(error.to_string()))?;
    let fingerprint = Fingerprint::parse(&case.fingerprint).map_err(|error| config(error.to_string()))?;
    let engine = Engine::new(name, bench.store.clone(), key)?.clock(bench.clock.clone());
    engine.fingerprint(fingerprint).policy(Policy::new().powertools(powertools))
}

async fn run(engine: &Engine, event: &str) -> Result<Outcome<Value>, RunError<io::Error>> {
    // The bytes as they came: TypeScript keeps the order of names that differ only in case.
    let event = RawValue::from_string(event.to_owned()).expect("JSON");
    engine.run(&event, |_| async { Ok(json!("done by Rust")) }).await
}

#[tokio::test]
async fn what_powertools_completed_is_replayed() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let mut replayed = 0;
    for case in cases() {
        for (language, powertools, written) in case.written() {
            // Rows of composite or renamed keys are of other tables.
            let Some(written) = written.filter(|written| written.completed.get("id").is_some()) else {
                continue;
            };
            if written.hash.is_empty() || written.completed.get("sort_key").is_some() {
                continue;
            }
            bench.put(item(&written.completed)).await?;
            // An expression on which the languages do not agree; `powertools_ids.rs` lists them.
            let engine = match engine(&bench, &case, powertools, &written.name) {
                Err(Error::Config { .. }) => continue,
                engine => engine?,
            };
            match run(&engine, &case.event).await {
                Ok(Outcome::Replayed(value, _)) => {
                    let result = if written.result == "__undefined__" { "null" } else { &written.result };
                    let result: Value = serde_json::from_str(result)?;
                    assert_eq!(value, result, "{} in {language}", case.case);
                    replayed += 1;
                }
                // Refused for a reason, which `powertools_ids.rs` lists.
                Err(RunError::Idempotency(Error::MissingKey { .. } | Error::InvalidKey { .. })) => {}
                other => panic!("{} in {language}: {other:?}", case.case),
            }
        }
    }
    assert_eq!(replayed, 133);
    Ok(())
}

#[tokio::test]
async fn what_powertools_has_in_progress_is_left_alone_until_its_lease_has_passed() -> TestResult {
    let case = case("001_whole_payload")?;
    for (language, powertools, written) in case.written() {
        let bench = Bench::dynamodb().await?;
        let written = written.ok_or("not written")?;
        bench.put(item(&written.in_progress)).await?;
        let engine = engine(&bench, &case, powertools, &written.name)?;
        let busy = run(&engine, &case.event).await;
        let Err(RunError::Idempotency(Error::AlreadyInProgress { .. })) = &busy else {
            panic!("{language}: {busy:?}")
        };
        // 30.7 s after its second it ends, and the margin is 2 s.
        bench.clock.advance(Duration::from_millis(30_450 + 2_000));
        let busy = run(&engine, &case.event).await;
        assert!(matches!(busy, Err(RunError::Idempotency(Error::AlreadyInProgress { .. }))), "{busy:?}");
        bench.clock.advance(Duration::from_millis(1));
        assert_eq!(run(&engine, &case.event).await?, Outcome::Executed(json!("done by Rust")), "{language}");

        // One row, under the id that the other language looks for, with the words that it knows.
        let row = bench.only_item().await?;
        assert_eq!(row["id"], attribute(&written.completed["id"]));
        assert_eq!(row["status"], AttributeValue::S("COMPLETED".into()));
        let data = if language == "python" { "\"done by Rust\"" } else { "done by Rust" };
        assert_eq!(row["data"], AttributeValue::S(data.into()));
        assert!(run(&engine, &case.event).await?.is_replayed());
    }
    Ok(())
}

#[tokio::test]
async fn what_powertools_validated_is_a_mismatch_with_other_content() -> TestResult {
    let case = case("041_payload_validation_sha256")?;
    for (language, powertools, written) in case.written() {
        let bench = Bench::dynamodb().await?;
        let written = written.ok_or("not written")?;
        let engine = engine(&bench, &case, powertools, &written.name)?;
        let other = case.event.replace("\"qty\": 2", "\"qty\": 3");
        assert_ne!(other, case.event);
        for stored in [&written.completed, &written.in_progress] {
            bench.put(item(stored)).await?;
            let answer = run(&engine, &other).await;
            let Err(RunError::Idempotency(Error::PayloadMismatch { .. })) = &answer else {
                panic!("{language}: {answer:?}")
            };
        }
        // Nor is it taken over by other content; by the same it is, and what is written then is what the
        // other language compares with.
        bench.clock.advance(Duration::from_secs(60));
        let answer = run(&engine, &other).await;
        assert!(matches!(answer, Err(RunError::Idempotency(Error::PayloadMismatch { .. }))), "{answer:?}");
        assert!(matches!(run(&engine, &case.event).await?, Outcome::Executed(_)));
        let row = bench.only_item().await?;
        assert_eq!(row["validation"], attribute(&written.completed["validation"]));
    }
    Ok(())
}

#[tokio::test]
async fn what_typescript_reads_is_in_the_types_of_dynamodb() -> TestResult {
    let case = case("001_whole_payload")?;
    let name = &case.typescript.as_ref().ok_or("not written")?.name;
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    for (result, data, encoding) in [
        (r#""done""#, json!({"S": "done"}), None),
        (r#""12345""#, json!({"S": "12345"}), None),
        ("null", json!({"NULL": true}), None),
        ("-12.5", json!({"N": "-12.5"}), None),
        ("18446744073709551615", json!({"N": "18446744073709551615"}), None),
        (
            r#"{"statusCode":200,"headers":{},"list":[true,"a",[]]}"#,
            json!({"M": {"statusCode": {"N": "200"}, "headers": {"M": {}},
                         "list": {"L": [{"BOOL": true}, {"S": "a"}, {"L": []}]}}}),
            None,
        ),
        // What DynamoDB's numbers and levels do not hold stays text, and says so.
        ("1e200", json!({"S": "1e200"}), Some("json")),
        (r#"{"n":[1.5e-200]}"#, json!({"S": r#"{"n":[1.5e-200]}"#}), Some("json")),
        (
            "123456789012345678901234567890123456789",
            json!({"S": "123456789012345678901234567890123456789"}),
            Some("json"),
        ),
        (&deep(32), json!({"S": deep(32)}), Some("json")),
    ] {
        let bench = Bench::dynamodb().await?;
        let engine = engine(&bench, &case, Powertools::typescript(), name)?;
        let value = RawValue::from_string(result.to_owned())?;
        let event = RawValue::from_string(case.event.clone())?;
        engine.run(&event, |_| async { Ok::<_, io::Error>(value) }).await?;
        let row = bench.only_item().await?;
        assert_eq!(row["data"], attribute(&data), "{result}");
        assert_eq!(
            row.get("encoding"),
            encoding.map(|name| AttributeValue::S(name.to_owned())).as_ref(),
            "{result}"
        );
        let again =
            engine.run(&event, |_| async { Err::<Box<RawValue>, _>(io::Error::other("again")) }).await?;
        let replayed = again.into_value().ok_or("no value")?;
        let as_value = |json: &str| serde_json::from_str::<Value>(json);
        assert_eq!(as_value(replayed.get())?, as_value(result)?, "{result}");
    }
    // At the limit of levels.
    let bench = Bench::dynamodb().await?;
    let engine = engine(&bench, &case, Powertools::typescript(), name)?;
    let event = RawValue::from_string(case.event.clone())?;
    let value = RawValue::from_string(deep(31))?;
    engine.run(&event, |_| async { Ok::<_, io::Error>(value) }).await?;
    assert!(matches!(bench.only_item().await?["data"], AttributeValue::L(_)));
    Ok(())
}

#[tokio::test]
async fn a_string_of_typescript_is_the_result_itself() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let event = r#"{"user_id":"u-1"}"#;
    let key = || Key::parse("user_id");
    let policy = Policy::new().powertools(Powertools::typescript());
    let engine =
        Engine::new("orders", bench.store.clone(), key()?)?.clock(bench.clock.clone()).policy(policy)?;
    // A number, an object and a string of JSON as a TypeScript function returned them: all strings.
    for text in ["12345", r#"{"ok":true}"#, "\"quoted\"", "", "done"] {
        let row = json!({
            "id": {"S": "orders#EPJsNhatnodb+YnihVf3oQ=="}, "status": {"S": "COMPLETED"},
            "expiration": {"N": "1900003600"}, "data": {"S": text},
        });
        bench.put(item(&row)).await?;
        let replayed = run(&engine, event).await?;
        assert!(replayed.is_replayed());
        assert_eq!(replayed.into_value(), Some(json!(text)));
    }
    Ok(())
}

/// `sort_key_attr`, and names of its own for every attribute.
#[tokio::test]
async fn tables_with_a_sort_key_or_other_names_are_read() -> TestResult {
    let mut composite = AttributeNames::default();
    composite.sort_key = Some(SortKey::with_id("sort_key", "idempotency#test-func"));
    let mut renamed = AttributeNames::default();
    renamed.id = "idempotency_key".into();
    renamed.expiration = "expires_at".into();
    renamed.in_progress_expiration = "in_progress_expires_at".into();
    renamed.status = "current_status".into();
    renamed.data = "result_data".into();
    renamed.validation = "validation_key".into();
    for (name, names, keys) in [
        ("086_composite_key_validation_prefix", composite, ["id", "sort_key"].as_slice()),
        ("087_renamed_attributes", renamed, &["idempotency_key"]),
    ] {
        let case = case(name)?;
        for (language, powertools, written) in case.written() {
            let with_names = |store: DynamoDbStore| store.attribute_names(names.clone()).expect("names");
            let bench = Bench::dynamodb_with(with_names, keys).await?;
            let written = written.ok_or("not written")?;
            let engine = engine(&bench, &case, powertools, &written.name)?;
            bench.put(item(&written.in_progress)).await?;
            let busy = run(&engine, &case.event).await;
            assert!(
                matches!(busy, Err(RunError::Idempotency(Error::AlreadyInProgress { .. }))),
                "{language}: {busy:?}"
            );
            bench.put(item(&written.completed)).await?;
            let replayed = run(&engine, &case.event).await?;
            assert_eq!(replayed.into_value(), Some(serde_json::from_str(&written.result)?), "{language}");
            let mismatch = run(&engine, &case.event.replace("\"qty\": 2", "\"qty\": 3")).await;
            assert!(
                matches!(mismatch, Err(RunError::Idempotency(Error::PayloadMismatch { .. }))),
                "{mismatch:?}"
            );
        }
    }
    Ok(())
}

#[tokio::test]
async fn values_that_json_has_not_are_a_typed_error() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let case = case("001_whole_payload")?;
    let written = case.typescript.as_ref().ok_or("not written")?;
    let engine = engine(&bench, &case, Powertools::typescript(), &written.name)?;
    let mut row = item(&written.completed);
    for value in
        [AttributeValue::Ss(vec!["a".into()]), AttributeValue::L(vec![AttributeValue::Ns(vec!["1".into()])])]
    {
        row.insert("data".to_owned(), value);
        bench.put(row.clone()).await?;
        let answer = run(&engine, &case.event).await;
        let Err(RunError::Idempotency(Error::CorruptRecord { source, .. })) = answer else {
            panic!("{answer:?}")
        };
        assert!(source.to_string().contains("`data`"), "{source}");
    }
    Ok(())
}

/// `payload_validation_jmespath="@"` is not the same as none.
#[tokio::test]
async fn the_whole_input_is_compared_as_powertools_does_where_it_is_said_out_loud() -> TestResult {
    for (powertools, hash) in [
        (Powertools::python(), "f2c36434f6477055f99e79b1bd83b11b"),
        (Powertools::typescript(), "+IEgZVFKonlrxbgKIKlLtw=="),
    ] {
        let bench = Bench::dynamodb().await?;
        let engine =
            Engine::new("orders", bench.store.clone(), Key::parse("id")?)?.clock(bench.clock.clone());
        let engine = engine.policy(Policy::new().powertools(powertools))?;
        let loud = engine.clone().fingerprint(Fingerprint::parse("@")?);
        run(&loud, r#"{"id":1,"amount":5}"#).await?;
        assert_eq!(bench.only_item().await?["validation"], AttributeValue::S(hash.to_owned()));
        assert!(run(&loud, r#"{"amount":5,"id":1}"#).await?.is_replayed());
        let other = run(&loud, r#"{"id":1,"amount":6}"#).await;
        assert!(matches!(other, Err(RunError::Idempotency(Error::PayloadMismatch { .. }))), "{other:?}");
        // One that says nothing does not compare with it.
        assert!(run(&engine, r#"{"id":1,"amount":6}"#).await?.is_replayed());
    }
    Ok(())
}

/// Powertools overwrites what is there, and leaves the attributes that it does not know.
#[tokio::test]
async fn a_late_completion_of_powertools_is_read_although_ours_was_left_out() -> TestResult {
    let by = || ("by".to_owned(), AttributeValue::S("other".into()));
    for (powertools, data) in [
        (Powertools::python(), AttributeValue::S("{\"by\":\"other\"}".into())),
        (Powertools::typescript(), AttributeValue::M(Item::from([by()]))),
    ] {
        let bench = Bench::dynamodb().await?;
        let engine =
            Engine::new("orders", bench.store.clone(), Key::parse("id")?)?.clock(bench.clock.clone());
        let engine = engine.policy(Policy::new().powertools(powertools))?;
        let large = "x".repeat(500_000);
        let event = RawValue::from_string(r#"{"id":1}"#.to_owned())?;
        engine.run(&event, |_| async { Ok::<_, io::Error>(large) }).await?;
        let mut row = bench.only_item().await?;
        assert!(row.contains_key("encoding") && !row.contains_key("data"));
        row.insert("data".to_owned(), data);
        bench.put(row).await?;
        assert_eq!(run(&engine, r#"{"id":1}"#).await?.into_value(), Some(json!({"by": "other"})));
    }
    Ok(())
}

#[derive(Debug)]
struct Nowhere;

#[async_trait::async_trait]
impl Offload for Nowhere {
    fn name(&self) -> &str {
        "nowhere"
    }
    async fn put(&self, _: Object<'_>) -> Result<String, StoreError> {
        Ok("there".to_owned())
    }
    async fn get(&self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }
}

/// What the other one would take for the result, and is not.
#[tokio::test]
async fn results_that_powertools_would_misread_are_refused() -> TestResult {
    let engine = || Engine::new("orders", MemoryStore::new(), Key::parse("id").expect("a key"));
    let policy = || Policy::new().powertools(Powertools::typescript());
    for (engine, told) in [
        (engine()?.policy(policy().result_mode(ResultMode::Compressed))?, "ResultMode"),
        (engine()?.policy(policy().result_mode(ResultMode::MarkerOnly))?, "ResultMode"),
        (engine()?.policy(policy())?.cipher(Aes256Gcm::new(&[7; 32]))?, "encryption"),
        (engine()?.policy(policy())?.offload(Nowhere)?, "large results"),
    ] {
        let answer = run(&engine, r#"{"id":1}"#).await;
        let Err(RunError::Idempotency(error @ Error::Config { .. })) = answer else {
            panic!("{told}: {answer:?}")
        };
        assert!(error.to_string().contains(told), "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn an_expression_on_which_the_languages_do_not_agree_is_refused_with_the_policy() -> TestResult {
    let engine = |key: &str| Engine::new("orders", MemoryStore::new(), Key::parse(key).expect("a key"));
    let policy = || Policy::new().powertools(Powertools::python());
    let error = engine("[id, sum(n)]")?.policy(policy()).expect_err("not the same everywhere");
    assert!(
        matches!(&error, Error::Config { message } if message.contains("`sum(n)` depends on")),
        "{error}"
    );
    let narrowed = engine("id")?.fingerprint(Fingerprint::parse("keys(o)")?).policy(policy())?;
    let previous = engine("id")?.previous(Key::parse("[id, a == b]")?).policy(policy())?;
    for (engine, part) in [(narrowed, "`keys(o)`"), (previous, "`a == b`")] {
        let answer = run(&engine, r#"{"id":1}"#).await;
        let Err(RunError::Idempotency(error @ Error::Config { .. })) = answer else { panic!("{answer:?}") };
        assert!(error.to_string().contains(part), "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn tenants_and_secrets_are_refused_before_any_store_call() -> TestResult {
    let policy = || Policy::new().powertools(Powertools::python());
    let engine =
        || Engine::new("orders", MemoryStore::new(), Key::parse("@").expect("a key"))?.policy(policy());
    let of_tenant = Invocation::new(Deadline::Unset).tenant(Some("a".to_owned()));
    let answer = of_tenant.scope(run(&engine()?, "1")).await;
    let Err(RunError::Idempotency(error @ Error::Config { .. })) = answer else { panic!("{answer:?}") };
    assert!(error.to_string().contains("tenant"), "{error}");
    let answer = run(&engine()?.secret(Secret::new("sixteen bytes...")?), "1").await;
    let Err(RunError::Idempotency(error @ Error::Config { .. })) = answer else { panic!("{answer:?}") };
    assert!(error.to_string().contains("secret"), "{error}");
    assert!(matches!(run(&engine()?, "1").await?, Outcome::Executed(_)));
    Ok(())
}

#[tokio::test]
async fn a_layer_takes_over_a_table_under_its_name_and_not_without() -> TestResult {
    let store = Arc::new(MemoryStore::new());
    let handler = tower::service_fn(|event: LambdaEvent<Value>| async move {
        Ok::<_, lambda_runtime::Error>(json!({"user": event.payload["user_id"]}))
    });
    let call = async |named: Option<&str>| {
        let layer = IdempotencyLayer::new(store.clone(), Key::parse("user_id")?, TAKEN_OVER.clone())?;
        let layer = match named {
            Some(name) => layer.name(name)?,
            None => layer,
        };
        let event = RawValue::from_string(r#"{"user_id":"u-1"}"#.to_owned())?;
        let event = LambdaEvent::new(event, lambda_runtime::Context::default());
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(layer.layer(handler).oneshot(event).await)
    };
    let refused = call(None).await?.expect_err("has no name");
    assert_eq!(refused.error_type, "IdempotencyConfig");
    assert!(refused.error_message.contains("`name` of the layer"), "{}", refused.error_message);
    assert!(store.records().is_empty());
    call(Some("orders.app.handler")).await?.map_err(|error| error.error_message)?;
    let id = store.records().remove(0).id;
    assert_eq!(id.as_str(), "orders.app.handler#10f26c3616ad9e875bf989e28557f7a1");
    Ok(())
}

static TAKEN_OVER: Policy = Policy::new().powertools(Powertools::python());

#[idempotent(key = "user_id", input = order, policy = TAKEN_OVER, name = "orders.app.handler")]
async fn handle(order: &Value) -> Result<u32, Error> {
    let _ = order;
    Ok(1)
}

#[idempotent(key = "user_id", input = order, policy = TAKEN_OVER)]
async fn nameless(order: &Value) -> Result<u32, Error> {
    let _ = order;
    Ok(1)
}

#[tokio::test]
async fn an_annotated_function_takes_over_a_table_under_its_name() -> TestResult {
    let bench = Bench::memory();
    let order = json!({"user_id": "u-1"});
    bench.run(handle(&order)).await?;
    let id = bench.memory_records().remove(0).id;
    assert_eq!(id.as_str(), "orders.app.handler#10f26c3616ad9e875bf989e28557f7a1");
    assert_eq!(compute_id_with(&TAKEN_OVER, "orders.app.handler", "user_id", &order)?, id);

    let error = bench.run(nameless(&order)).await.expect_err("has no name");
    let told = error.to_string();
    assert!(told.contains("powertools_tables::nameless: ") && told.contains("name = "), "{told}");
    assert_eq!(bench.memory_records().len(), 1);
    Ok(())
}
