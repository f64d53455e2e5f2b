//! Which response each error is, and that none says anything of the request, the record or the setup.

use lambda_idempotency::store::Status;
use lambda_idempotency::testing::{Fault, FaultyStore, Verb};
use lambda_idempotency::{
    Engine, EpochMillis, Error, JsonFault, Key, MemoryStore, RecordId, RunError, StoreError, StoreErrorKind,
    compute_id, proxy,
};
use lambda_idempotency_tests::{NOW, TestResult};
use serde_json::{Value, json};

use crate::events::problem;

/// Stands in keys, contents, results and names, and may be in no response.
const CANARY: &str = "canary-4f1d";

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn id() -> Result<RecordId, Failure> {
    Ok(compute_id(CANARY, "id", &json!({"id": CANARY}))?)
}

fn fault() -> Result<JsonFault, Failure> {
    let error = serde_json::from_str::<u8>("\"canary-4f1d\"").err().ok_or("that is no number")?;
    Ok(JsonFault::from(&error))
}

fn store(kind: StoreErrorKind) -> StoreError {
    StoreError::new(kind, format!("PutItem on DynamoDB table `{CANARY}`")).code(CANARY).cure(CANARY)
}

fn busy(milliseconds: i64) -> Result<Error, Failure> {
    let retry_at = EpochMillis::new(NOW.get() + milliseconds);
    Ok(Error::AlreadyInProgress { id: id()?, retry_at, now: NOW })
}

fn refused(error: RunError<Error>) -> Result<Error, Failure> {
    match error {
        RunError::Idempotency(error) => Ok(error),
        other => Err(format!("{other:?}").into()),
    }
}

/// As the engine makes it: with the stored result inside.
async fn mismatch() -> Result<Error, Failure> {
    let engine = Engine::new(CANARY, MemoryStore::new(), Key::parse("id")?)?;
    let work = |_| async { Ok::<_, Error>(CANARY.to_owned()) };
    engine.run(&json!({"id": CANARY, "content": 1}), work).await?;
    let error =
        engine.run(&json!({"id": CANARY, "content": 2}), work).await.err().ok_or("it was replayed")?;
    let error = refused(error)?;
    assert!(
        matches!(&error, Error::PayloadMismatch { status: Status::Completed, stored, .. } if stored.expose().is_some())
    );
    Ok(error)
}

/// As the engine makes it: with the result inside.
async fn not_recorded() -> Result<Error, Failure> {
    let store = FaultyStore::new(MemoryStore::new());
    store.break_next(Verb::Complete, Fault::Deny);
    let engine = Engine::new(CANARY, store, Key::parse("id")?)?;
    let work = |_| async { Ok::<_, Error>(CANARY.to_owned()) };
    let error = engine.run(&json!({"id": CANARY}), work).await.err().ok_or("it was recorded")?;
    refused(error)
}

/// Status, code, whether it is retryable, and `Retry-After`.
type Row = (u64, String, bool, Option<String>);

fn told(error: &Error) -> Result<Option<Row>, Failure> {
    let Some(response) = proxy::problem(error) else { return Ok(None) };
    let body = problem(&response)?;
    assert!(!response.to_string().contains(CANARY), "{response}");
    assert_eq!(response["isBase64Encoded"], false);
    assert_eq!(response["headers"]["content-type"], "application/problem+json");
    let mut members: Vec<_> = body.as_object().ok_or("no object")?.keys().map(String::as_str).collect();
    members.sort_unstable();
    assert_eq!(members, ["code", "detail", "retryable", "status", "title", "type"]);
    assert_eq!(body["status"], response["statusCode"]);
    let status = response["statusCode"].as_u64().ok_or("no status")?;
    let code = body["code"].as_str().ok_or("no code")?;
    let kind = body["type"].as_str().ok_or("no type")?;
    assert!(kind.starts_with("https://") && kind.ends_with(&format!("#{code}")), "{kind}");
    // The page that `type` leads to has a heading for each code.
    let described = include_str!("../../../docs/http.md");
    assert!(described.contains(&format!("\n### {code}\n")), "docs/http.md: {code}");
    let wait = response["headers"]["retry-after"].as_str().map(str::to_owned);
    Ok(Some((status, code.to_owned(), body["retryable"].as_bool().ok_or("no boolean")?, wait)))
}

fn row(status: u64, code: &str, wait: Option<&str>) -> Option<Row> {
    Some((status, code.to_owned(), wait.is_some(), wait.map(str::to_owned)))
}

#[tokio::test]
async fn each_error_has_its_response_or_none() -> TestResult {
    let function = || CANARY.to_owned();
    let source = || Key::parse("id").map(|key| key.of("{}"));
    let missing = source()?.err().ok_or("it has a key")?;
    let twice = Key::parse("id")?.of(r#"{"id": "canary-4f1d", "id": 2}"#).err().ok_or("it has a key")?;
    let deadline = EpochMillis::new(NOW.get() - 1);
    let refused_write = lambda_idempotency::RefusedWrite { index: 0, code: CANARY.to_owned() };
    let later = row(503, "temporarily-unavailable", Some("5"));
    let errors = [
        (
            Error::MissingKey { function: function(), source: missing.into() },
            row(400, "idempotency-key-required", None),
        ),
        (
            Error::InvalidKey { function: function(), source: twice.into() },
            row(400, "idempotency-key-invalid", None),
        ),
        (Error::InvalidInput { function: function(), reason: fault()? }, row(400, "request-invalid", None)),
        (
            Error::UnreadableEvent { expected: function(), reason: fault()? },
            row(400, "request-invalid", None),
        ),
        (Error::SeveralRecords { function: function(), count: 2 }, row(400, "request-invalid", None)),
        (mismatch().await?, row(422, "idempotency-key-mismatch", None)),
        (busy(2_000)?, row(409, "idempotency-key-in-use", Some("2"))),
        (Error::Interrupted { id: id()? }, row(409, "outcome-unknown", None)),
        (Error::ResultNotStored { id: id()?, bytes: 7 }, row(409, "result-not-stored", None)),
        (Error::DeadlinePassed { id: id()?, deadline, now: NOW }, later.clone()),
        (Error::InconsistentState { id: id()?, tries: 3 }, later.clone()),
        (Error::Store { id: id()?, source: store(StoreErrorKind::Unreachable) }, later.clone()),
        (Error::ResultUnavailable { id: id()?, source: store(StoreErrorKind::TimedOut) }, later),
        (Error::Store { id: id()?, source: store(StoreErrorKind::AccessDenied) }, None),
        (Error::ResultUnavailable { id: id()?, source: store(StoreErrorKind::AccessDenied) }, None),
        (not_recorded().await?, None),
        (Error::LeaseLost { id: id()? }, None),
        (Error::InvalidResult { function: function(), reason: fault()? }, None),
        (Error::TransactionRefused { id: id()?, reasons: vec![refused_write] }, None),
        (Error::ReplayDecode { id: id()?, expected: "u8", fault: fault()? }, None),
        (Error::CorruptRecord { id: id()?, source: store(StoreErrorKind::Corrupt) }, None),
        (Error::Config { message: function() }, None),
    ];
    for (error, expected) in errors {
        assert_eq!(told(&error)?, expected, "{}", error.name());
        if let Some((_, _, retryable, _)) = expected {
            assert_eq!(retryable, error.is_retryable(), "{}", error.name());
        }
    }
    Ok(())
}

#[test]
fn retry_after_is_whole_seconds_rounded_up_between_one_and_thirty() -> TestResult {
    for (milliseconds, seconds) in [
        (i64::MIN / 2, "1"),
        (-5_000, "1"),
        (0, "1"),
        (1, "1"),
        (1_000, "1"),
        (1_001, "2"),
        (29_000, "29"),
        (29_001, "30"),
        (30_001, "30"),
        (900_000, "30"),
        (i64::MAX - NOW.get(), "30"),
    ] {
        let response = proxy::problem(&busy(milliseconds)?).ok_or("no response")?;
        assert_eq!(response["headers"]["retry-after"], seconds, "{milliseconds} ms");
    }
    Ok(())
}

#[test]
fn the_type_can_be_under_an_address_of_ones_own() -> TestResult {
    let error = Error::Interrupted { id: id()? };
    let mut own = proxy::problem_at(&error, "https://api.example.com/problems/").ok_or("no response")?;
    let body = problem(&own)?;
    assert_eq!(body["type"], "https://api.example.com/problems/outcome-unknown");
    // And it is a response like any other.
    proxy::set_header(&mut own, "Access-Control-Allow-Origin", "*");
    let headers = json!({"content-type": "application/problem+json", "Access-Control-Allow-Origin": "*"});
    assert_eq!(own["headers"], headers);
    assert_eq!(proxy::problem_at(&Error::Config { message: String::new() }, ""), None::<Value>);
    Ok(())
}
