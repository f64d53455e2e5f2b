//! What a wrong or broken setup gets: a typed error that names the thing and the cure, before any
//! effect and within the store timeout.

use std::error::Error as StdError;
use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use lambda_idempotency::dynamodb::{AttributeNames, SortKey};
use lambda_idempotency::{
    DynamoDbStore, Engine, Error, Key, NotRecordedReason, Outcome, Policy, RunError, StoreErrorKind,
};
use lambda_idempotency_tests::{
    Bench, ORDER_KEY, PATIENCE, TABLE, TestResult, Work, client, everything_said,
};
use loopback::{DynamoDb, Fault};
use serde_json::json;

/// Stands in the key, in the input and in the result, and may be in nothing that is said.
const CANARY: &str = "canary-4f1d";

type Answer = Result<Outcome<String>, RunError<io::Error>>;

fn engine(endpoint: &str) -> Result<Engine, Box<dyn StdError + Send + Sync>> {
    engine_with(endpoint, Policy::new())
}

fn engine_with(endpoint: &str, policy: Policy) -> Result<Engine, Box<dyn StdError + Send + Sync>> {
    let store = DynamoDbStore::new(client(endpoint), TABLE);
    Ok(Engine::new("orders.submit", store, Key::parse(ORDER_KEY)?)?.policy(policy)?)
}

async fn submit(engine: &Engine, work: &Work) -> Answer {
    let input = json!({"order_id": CANARY, "version": 1, "instruction": CANARY});
    engine.run(&input, |_| async { Ok::<_, io::Error>(format!("{CANARY} {}", work.run())) }).await
}

/// Submits; the error, of which everything that it and its sources say is checked.
async fn refused(engine: &Engine, work: &Work) -> Result<Error, Box<dyn StdError + Send + Sync>> {
    let started = Instant::now();
    let answer = submit(engine, work).await;
    assert!(started.elapsed() < PATIENCE, "the SDK alone would take longer");
    let Err(RunError::Idempotency(error)) = answer else { return Err(format!("{answer:?}").into()) };
    let said = everything_said(&error);
    assert!(!said.contains(CANARY), "{said}");
    Ok(error)
}

fn kind(error: &Error) -> Option<StoreErrorKind> {
    match error {
        Error::Store { source, .. } => Some(source.kind()),
        Error::NotRecorded { source: NotRecordedReason::Store(source), .. } => Some(source.kind()),
        _ => None,
    }
}

/// The message has all of these parts.
fn says(error: &Error, parts: &[&str]) {
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

/// The SDK's own error among the sources.
fn sdk_error<E: StdError + 'static>(error: &Error) -> Option<&SdkError<E, HttpResponse>> {
    let mut next = error.source();
    while let Some(source) = next {
        if let Some(found) = source.downcast_ref() {
            return Some(found);
        }
        next = source.source();
    }
    None
}

#[tokio::test]
async fn a_table_that_is_not_there_is_named_with_the_cure() -> TestResult {
    let (dynamo, work) = (DynamoDb::start().await?, Work::new());
    let error = refused(&engine(dynamo.endpoint())?, &work).await?;
    assert_eq!(kind(&error), Some(StoreErrorKind::NotFound));
    assert!(!error.is_retryable());
    says(
        &error,
        &["PutItem", "`idempotency`", "ResourceNotFoundException", "create the table", "orders.submit#"],
    );
    let sdk = sdk_error::<PutItemError>(&error).ok_or("the source chain ends before the SDK's error")?;
    assert!(sdk.as_service_error().is_some_and(PutItemError::is_resource_not_found_exception));
    assert_eq!(work.runs(), 0);
    Ok(())
}

#[tokio::test]
async fn a_table_with_another_key_is_told_which_key_it_needs() -> TestResult {
    let (dynamo, work) = (DynamoDb::start().await?, Work::new());
    dynamo.create_table_with_keys(TABLE, &["pk"]).await?;
    let error = refused(&engine(dynamo.endpoint())?, &work).await?;
    assert_eq!(kind(&error), Some(StoreErrorKind::WrongSchema));
    says(&error, &["PutItem", "`idempotency`", "ValidationException", "partition key `id` of type S"]);
    assert_eq!(work.runs(), 0);
    Ok(())
}

#[tokio::test]
async fn a_table_without_the_sort_key_is_told_so_and_a_key_that_dynamodb_refuses_is_none() -> TestResult {
    let (dynamo, work) = (DynamoDb::start().await?, Work::new());
    dynamo.create_table(TABLE).await?;
    let named = |sort_key| {
        let mut names = AttributeNames::default();
        names.sort_key = Some(sort_key);
        DynamoDbStore::new(client(dynamo.endpoint()), TABLE).attribute_names(names)
    };
    let store = named(SortKey::fixed("SK", "IDEMPOTENCY"))?;
    let error = refused(&Engine::new("orders.submit", store, Key::parse(ORDER_KEY)?)?, &work).await?;
    assert_eq!(kind(&error), Some(StoreErrorKind::WrongSchema));
    says(&error, &["GetItem", "partition key `id` of type S and the sort key `SK` of type S"]);
    assert_eq!(work.runs(), 0);

    for (sort_key, told) in [
        (SortKey::fixed("SK", ""), "is empty"),
        (SortKey::with_id("SK", ""), "is empty"),
        (SortKey::fixed("", "x"), "empty name"),
        (SortKey::fixed("id", "x"), "both called `id`"),
    ] {
        let error = named(sort_key).err().ok_or(told)?;
        assert!(error.to_string().contains(told), "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn a_missing_right_is_named_before_anything_runs() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let fault = Fault::error("AccessDeniedException", "User is not authorized to perform: dynamodb:PutItem");
    bench.proxy().fault_always("PutItem", fault);
    let error = refused(&engine(&bench.proxy().endpoint())?, &work).await?;
    assert_eq!(kind(&error), Some(StoreErrorKind::AccessDenied));
    says(&error, &["`idempotency`", "AccessDeniedException", "give the function's role `dynamodb:PutItem`"]);
    assert_eq!((work.runs(), bench.count().await?), (0, 0));
    Ok(())
}

#[tokio::test]
async fn without_the_right_to_complete_the_value_is_handed_over_and_the_claim_stays() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let fault =
        Fault::error("AccessDeniedException", "User is not authorized to perform: dynamodb:UpdateItem");
    bench.proxy().fault_always("UpdateItem", fault);
    let engine = engine(&bench.proxy().endpoint())?;

    let error = refused(&engine, &work).await?;
    let Error::NotRecorded { value, .. } = &error else { panic!("{error:?}") };
    assert_eq!(value.expose(), Some(r#""canary-4f1d 1""#));
    assert_eq!(kind(&error), Some(StoreErrorKind::AccessDenied));
    says(&error, &["the function succeeded", "UpdateItem", "give the function's role `dynamodb:UpdateItem`"]);
    assert!(sdk_error::<UpdateItemError>(&error).is_some());
    assert_eq!(bench.proxy().operations(), ["PutItem", "UpdateItem"], "no release, no further try");

    assert_eq!(refused(&engine, &work).await?.name(), "AlreadyInProgress");
    assert_eq!(work.runs(), 1);
    Ok(())
}

#[tokio::test]
async fn without_the_right_to_release_the_functions_own_error_is_the_one_that_counts() -> TestResult {
    let bench = Bench::dynamodb().await?;
    bench.proxy().fault_always("DeleteItem", Fault::error("AccessDeniedException", "not this one"));
    let engine = engine(&bench.proxy().endpoint())?;
    let failing = |_| async { Err::<(), _>(io::Error::other("the provider said no")) };
    let failed = engine.run(&json!({"order_id": 1, "version": 1}), failing).await;
    assert!(matches!(failed, Err(RunError::Function(error)) if error.to_string().contains("provider")));
    Ok(())
}

#[tokio::test]
async fn bad_credentials_are_told_apart_from_a_missing_table() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    for code in ["UnrecognizedClientException", "ExpiredTokenException", "InvalidSignatureException"] {
        bench.proxy().fault_next("PutItem", Fault::error(code, "The security token is invalid."));
        let error = refused(&engine(&bench.proxy().endpoint())?, &work).await?;
        assert_eq!(kind(&error), Some(StoreErrorKind::AccessDenied), "{code}");
        says(&error, &[code, "credentials"]);
    }
    assert_eq!(work.runs(), 0);
    Ok(())
}

#[tokio::test]
async fn where_nobody_listens_the_store_is_unreachable() -> TestResult {
    let dynamo = DynamoDb::start().await?;
    let endpoint = dynamo.endpoint().to_owned();
    dynamo.stop().await;
    let work = Work::new();
    let error = refused(&engine(&endpoint)?, &work).await?;
    assert_eq!(kind(&error), Some(StoreErrorKind::Unreachable));
    assert!(error.is_retryable());
    says(&error, &["PutItem", "`idempotency`", "no connection", "check the endpoint"]);
    assert!(sdk_error::<PutItemError>(&error).is_some());
    assert_eq!(work.runs(), 0);

    // By a switch, each delivery runs instead.
    let open = engine_with(&endpoint, Policy::new().fail_open())?;
    for runs in 1..=2 {
        assert_eq!(submit(&open, &work).await?, Outcome::Unprotected(format!("{CANARY} {runs}")));
    }
    Ok(())
}

#[tokio::test]
async fn a_store_that_never_answers_is_given_up_at_the_store_timeout() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    bench.proxy().fault_always("PutItem", Fault::BlackHole);
    let policy = Policy::new().store_timeout(Duration::from_millis(300));
    let error = refused(&engine_with(&bench.proxy().endpoint(), policy)?, &work).await?;
    assert_eq!(kind(&error), Some(StoreErrorKind::TimedOut));
    assert!(error.is_retryable());
    says(&error, &["claim", "`idempotency`", "after 300 ms", "check that the store can be reached"]);
    assert_eq!(work.runs(), 0);
    Ok(())
}

#[tokio::test]
async fn a_completion_that_is_never_answered_is_given_up_with_the_value() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    bench.proxy().fault_always("UpdateItem", Fault::BlackHole);
    let policy = Policy::new().store_timeout(Duration::from_secs(1));
    let error = refused(&engine_with(&bench.proxy().endpoint(), policy)?, &work).await?;
    assert_eq!(error.name(), "NotRecorded");
    assert_eq!(kind(&error), Some(StoreErrorKind::TimedOut));
    says(&error, &["the function succeeded", "complete", "`idempotency`"]);
    assert!(bench.proxy().operations().len() > 2, "it was tried again while time was left");
    Ok(())
}

#[tokio::test]
async fn a_store_that_asks_to_slow_down_is_retryable_and_says_so() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let throttled = Fault::error("ProvisionedThroughputExceededException", "too fast");
    // Both tries of the claim, each with the retries of its client.
    bench.proxy().fault_times("PutItem", 6, throttled);
    let error = refused(&engine(&bench.proxy().endpoint())?, &work).await?;
    assert_eq!(kind(&error), Some(StoreErrorKind::Throttled));
    assert!(error.is_retryable());
    says(&error, &["PutItem", "ProvisionedThroughputExceededException", "on-demand"]);
    Ok(())
}

/// Runs in a process of its own, whose environment is what the test below makes it.
#[tokio::test]
#[ignore = "a part of from_env_names_what_is_missing_in_the_environment"]
async fn from_env_in_this_process() {
    match DynamoDbStore::from_env().await {
        Ok(store) => println!("ok {}", store.table()),
        Err(error) => println!("{} {error}", error.name()),
    }
}

#[test]
fn from_env_names_what_is_missing_in_the_environment() -> TestResult {
    let from_env = |env: &[(&str, &str)]| -> Result<String, Box<dyn StdError + Send + Sync>> {
        let mut child = Command::new(std::env::current_exe()?);
        child.args(["--exact", "from_env_in_this_process", "--ignored", "--nocapture"]).env_clear();
        // No home, so no profile; and nothing beyond this machine is asked for a region.
        child.env("AWS_EC2_METADATA_DISABLED", "true").envs(env.iter().copied());
        Ok(String::from_utf8(child.output()?.stdout)?)
    };
    let region = ("AWS_REGION", "eu-central-1");
    for env in [vec![region], vec![region, ("IDEMPOTENCY_TABLE", " ")]] {
        let said = from_env(&env)?;
        assert!(said.contains("Config IDEMPOTENCY_TABLE is not set: name the DynamoDB table"), "{said}");
    }
    let said = from_env(&[("IDEMPOTENCY_TABLE", "orders")])?;
    assert!(said.contains("Config no AWS region for DynamoDB table `orders`: set AWS_REGION"), "{said}");
    let said = from_env(&[region, ("IDEMPOTENCY_TABLE", " orders ")])?;
    assert!(said.contains("ok orders\n"), "{said}");
    Ok(())
}
