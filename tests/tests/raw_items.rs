//! The rows themselves: names, types and units of the protocol, in progress and completed.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use lambda_idempotency::decide::Deadline;
use lambda_idempotency::dynamodb::{AttributeNames, SortKey};
use lambda_idempotency::{DynamoDbStore, Engine, Invocation, Key, Outcome, Policy, ResultMode, RunError};
use lambda_idempotency_tests::{
    Bench, Item, NOW, ORDER_KEY, TABLE, TestResult, Work, client, edited_order, everything_said, order,
};

const NAME: &str = "orders.submit";

fn text(item: &Item, name: &str) -> String {
    match item.get(name) {
        Some(AttributeValue::S(text)) => text.clone(),
        other => panic!("{name} is no S: {other:?}"),
    }
}

fn number(item: &Item, name: &str) -> String {
    match item.get(name) {
        Some(AttributeValue::N(text)) => text.clone(),
        other => panic!("{name} is no N: {other:?}"),
    }
}

fn names(item: &Item) -> Vec<&str> {
    let mut names: Vec<&str> = item.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The row as the running function sees it, and as it is afterwards.
async fn before_and_after(
    bench: &Bench,
    policy: Policy,
) -> Result<(Item, Item), Box<dyn std::error::Error + Send + Sync>> {
    let engine = bench.engine(NAME, ORDER_KEY)?.policy(policy)?;
    let held = Work::new();
    let inside = held.clone();
    let call = tokio::spawn(async move {
        let run = |_| async move {
            inside.run_held().await;
            Ok::<_, io::Error>(BTreeMap::from([("run_id".to_owned(), "run-1".to_owned())]))
        };
        let deadline = Deadline::At(NOW.plus(Duration::from_secs(20)));
        Invocation::new(deadline).scope(engine.run(&order(), run)).await
    });
    held.entered().await?;
    let before = bench.only_item().await?;
    bench.clock.advance(Duration::from_secs(3));
    held.go_on();
    call.await??;
    Ok((before, bench.only_item().await?))
}

#[tokio::test]
async fn a_claim_has_the_names_types_and_units_of_the_protocol() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let (item, _) = before_and_after(&bench, Policy::new()).await?;

    let expected = ["expiration", "id", "in_progress_expiration", "owner", "status", "validation"];
    assert_eq!(names(&item), expected);
    let id = text(&item, "id");
    assert!(id.strip_prefix("orders.submit#").is_some_and(|hash| is_hex(hash, 64)), "{id}");
    // One day after .250 of a second, rounded up to a whole one.
    assert_eq!(number(&item, "expiration"), "1900086401");
    // The deadline of the invocation, in milliseconds.
    assert_eq!(number(&item, "in_progress_expiration"), "1900000020250");
    assert_eq!(text(&item, "status"), "INPROGRESS");
    assert!(is_hex(&text(&item, "owner"), 32));
    let validation = text(&item, "validation");
    let parts: Vec<&str> = validation.split(':').collect();
    assert!(matches!(parts[..], ["1", rule, hash] if is_hex(rule, 8) && is_hex(hash, 64)), "{validation}");
    Ok(())
}

/// Ids in the partition key spread over the table's partitions, whatever the sort key.
#[tokio::test]
async fn in_a_table_with_a_sort_key_every_record_is_a_partition_of_its_own() -> TestResult {
    let mut names = AttributeNames::default();
    names.id = "PK".into();
    names.sort_key = Some(SortKey::fixed("SK", "IDEMPOTENCY"));
    let bench =
        Bench::dynamodb_with(|store| store.attribute_names(names).expect("names"), &["PK", "SK"]).await?;
    let engine = bench.engine(NAME, "id")?;
    for id in 0..100 {
        engine.run(&serde_json::json!({"id": id}), |_| async { Ok::<_, io::Error>(()) }).await?;
    }
    let items = bench.dynamo().items(TABLE).await?;
    let partitions: std::collections::BTreeSet<String> = items.iter().map(|item| text(item, "PK")).collect();
    assert_eq!(partitions.len(), 100);
    assert!(items.iter().all(|item| text(item, "SK") == "IDEMPOTENCY"));
    Ok(())
}

/// Where all records are in one partition, an error says which of them it is about.
#[tokio::test]
async fn in_a_table_with_ids_in_its_sort_key_an_error_names_the_record() -> TestResult {
    let mut names = AttributeNames::default();
    names.id = "PK".into();
    names.sort_key = Some(SortKey::with_id("SK", "idempotency#orders"));
    let bench =
        Bench::dynamodb_with(|store| store.attribute_names(names).expect("names"), &["PK", "SK"]).await?;
    let engine = bench.engine(NAME, ORDER_KEY)?;
    engine.run(&order(), |_| async { Ok::<_, io::Error>(()) }).await?;
    let stored = text(&bench.only_item().await?, "SK");
    let refused = engine.run(&edited_order(), |_| async { Ok::<_, io::Error>(()) }).await;
    let Err(RunError::Idempotency(error)) = refused else { return Err(format!("{refused:?}").into()) };
    assert_eq!(error.name(), "PayloadMismatch");
    assert!(error.to_string().contains(&stored), "{error}");
    Ok(())
}

/// The read that looks for the sort key asks nothing of the row.
#[tokio::test]
async fn in_a_table_with_a_sort_key_an_expired_record_need_not_be_readable() -> TestResult {
    let names = || {
        let mut names = AttributeNames::default();
        names.sort_key = Some(SortKey::fixed("SK", "IDEMPOTENCY"));
        names
    };
    let with_names = |store: DynamoDbStore| store.attribute_names(names()).expect("names");
    let bench = Bench::dynamodb_with(with_names, &["id", "SK"]).await?;
    let input = serde_json::json!({"id": 1});
    let engine = bench.engine(NAME, "id")?;
    engine.run(&input, |_| async { Ok::<_, io::Error>(()) }).await?;
    let mut row = bench.only_item().await?;
    row.insert("status".to_owned(), AttributeValue::S("NONSENSE".into()));
    row.insert("expiration".to_owned(), AttributeValue::N("1000".into()));
    bench.put(row).await?;
    // As another process, which knows nothing of the table yet.
    let store = DynamoDbStore::new(client(&bench.proxy().endpoint()), TABLE).attribute_names(names())?;
    let engine = Engine::new(NAME, store, Key::parse("id")?)?.clock(bench.clock.clone());
    let again = engine.run(&input, |_| async { Ok::<_, io::Error>(()) }).await?;
    assert_eq!(again.name(), "Executed");
    Ok(())
}

#[tokio::test]
async fn a_completed_record_has_the_result_and_lives_from_its_completion() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let (before, after) = before_and_after(&bench, Policy::new()).await?;

    let expected =
        ["data", "expiration", "id", "in_progress_expiration", "owner", "status", "stored_at", "validation"];
    assert_eq!(names(&after), expected);
    assert_eq!(text(&after, "status"), "COMPLETED");
    assert_eq!(number(&after, "stored_at"), "1900000003250");
    assert_eq!(text(&after, "data"), r#"{"run_id":"run-1"}"#);
    // The function took three seconds of the clock.
    assert_eq!(number(&after, "expiration"), "1900086404");
    for kept in ["id", "owner", "validation"] {
        assert_eq!(after[kept], before[kept], "{kept} is that of the claim");
    }
    Ok(())
}

#[tokio::test]
async fn a_life_of_less_than_two_seconds_is_rounded_up_to_a_whole_second() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let policy = Policy::new().expires_after(Duration::from_millis(1500));
    let (before, after) = before_and_after(&bench, policy).await?;

    // Never before lease end and margin: .250 + 20 s + 2 s.
    assert_eq!(number(&before, "expiration"), "1900000023");
    // From the completion: .250 + 3 s + 1.5 s.
    assert_eq!(number(&after, "expiration"), "1900000005");
    Ok(())
}

#[tokio::test]
async fn at_most_once_adds_the_deadline_of_the_holder_in_milliseconds() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let (before, after) = before_and_after(&bench, Policy::new().at_most_once()).await?;

    assert_eq!(number(&before, "deadline"), "1900000020250");
    // Nobody takes over: the lease lasts as long as the record, to the end of its last second.
    assert_eq!(number(&before, "expiration"), "1900086401");
    assert_eq!(number(&before, "in_progress_expiration"), "1900086402000");
    assert_eq!(after.get("deadline"), None);
    Ok(())
}

/// For work whose result must not lie in a table: neither does its input or its key.
#[tokio::test]
async fn of_work_that_is_only_marked_as_done_the_row_says_nothing_else() -> TestResult {
    let canary = "canary-4f1d";
    let bench = Bench::dynamodb().await?;
    let engine = bench.engine(NAME, "id")?.policy(Policy::new().result_mode(ResultMode::MarkerOnly))?;
    let input = serde_json::json!({"id": canary, "content": canary});
    let work = |_| async { Ok::<_, io::Error>(canary.to_owned()) };
    assert_eq!(engine.run(&input, work).await?, Outcome::Executed(canary.to_owned()));
    let row = bench.only_item().await?;
    assert_eq!(text(&row, "status"), "COMPLETED");
    assert!(!format!("{row:?}").contains(canary), "{row:?}");
    let again = engine.run(&input, work).await;
    let Err(RunError::Idempotency(error)) = again else { return Err(format!("{again:?}").into()) };
    assert_eq!(error.name(), "ResultNotStored");
    assert!(!everything_said(&error).contains(canary), "{error}");
    Ok(())
}

#[tokio::test]
async fn nothing_of_an_expired_record_is_left_after_a_new_claim() -> TestResult {
    let bench = Bench::dynamodb().await?;
    let engine = bench.engine(NAME, ORDER_KEY)?;
    let id = engine.identify(&order())?.ok_or("no key")?.id().to_string();
    let s = |text: &str| AttributeValue::S(text.to_owned());
    // The sweeper of the table is late: its last second was the one before NOW.
    let expired = [
        ("id", s(&id)),
        ("expiration", AttributeValue::N("1899999999".into())),
        ("status", s("COMPLETED")),
        ("data", s("17")),
        ("encoding", s("gzip")),
        ("validation", s("1:00000000:of other content")),
        ("owner", s("somebody")),
        ("note", s("written by hand")),
    ];
    bench.put(expired.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()).await?;

    let (before, after) = before_and_after(&bench, Policy::new()).await?;

    let expected = ["expiration", "id", "in_progress_expiration", "owner", "status", "validation"];
    assert_eq!(names(&before), expected);
    assert_ne!(text(&before, "owner"), "somebody");
    assert_eq!(text(&after, "data"), r#"{"run_id":"run-1"}"#);
    assert_eq!(after.get("encoding"), None);
    Ok(())
}

#[tokio::test]
async fn a_record_counts_to_the_end_of_its_last_second() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let policy = Policy::new().expires_after(Duration::from_secs(60));
    let engine = bench.engine(NAME, ORDER_KEY)?.policy(policy)?;
    let submit = async || engine.run(&order(), |_| async { Ok::<_, io::Error>(work.run()) }).await;
    submit().await?;
    assert_eq!(number(&bench.only_item().await?, "expiration"), "1900000061");

    bench.clock.set(lambda_idempotency::EpochMillis::new(1_900_000_061_999));
    assert!(submit().await?.is_replayed());
    bench.clock.advance(Duration::from_millis(1));
    assert_eq!(submit().await?, Outcome::Executed(2));
    Ok(())
}

#[tokio::test]
async fn reserved_words_can_be_the_names_of_all_attributes() -> TestResult {
    let mut renamed = AttributeNames::default();
    renamed.id = "key".into();
    renamed.expiration = "ttl".into();
    renamed.in_progress_expiration = "timestamp".into();
    renamed.status = "state".into();
    renamed.data = "value".into();
    renamed.validation = "hash".into();
    renamed.owner = "user".into();
    renamed.deadline = "time".into();
    renamed.encoding = "type".into();
    renamed.stored_at = "date".into();
    let renamed = |store: lambda_idempotency::DynamoDbStore| store.attribute_names(renamed).expect("names");
    let bench = Bench::dynamodb_with(renamed, &["key"]).await?;
    let engine = bench.engine(NAME, ORDER_KEY)?;
    let work = Work::new();
    let submit = async |input| engine.run(&input, |_| async { Ok::<_, io::Error>(work.run()) }).await;

    // Release.
    let failed = engine.run(&order(), |_| async { Err::<(), _>(io::Error::other("no")) }).await;
    assert!(matches!(failed, Err(RunError::Function(_))));
    assert_eq!(bench.count().await?, 0);

    // Busy, then takeover of an abandoned claim.
    let (holder, held) = (engine.clone(), Work::new());
    let inside = held.clone();
    let abandoned = tokio::spawn(async move {
        let _ = holder.run(&order(), |_| async move { Ok::<_, io::Error>(inside.run_held().await) }).await;
    });
    held.entered().await?;
    assert_eq!(names(&bench.only_item().await?), ["hash", "key", "state", "timestamp", "ttl", "user"]);
    let busy = submit(order()).await;
    assert!(matches!(busy, Err(RunError::Idempotency(error)) if error.is_already_in_progress()));
    abandoned.abort();
    bench.clock.advance(Duration::from_secs(900 + 2 + 1));
    assert_eq!(submit(order()).await?, Outcome::Executed(1));

    // Completed, replayed, compared.
    let item = bench.only_item().await?;
    assert_eq!(names(&item), ["date", "hash", "key", "state", "timestamp", "ttl", "user", "value"]);
    assert_eq!(text(&item, "value"), "1");
    assert!(submit(order()).await?.is_replayed());
    let mismatch = submit(edited_order()).await;
    assert!(matches!(mismatch, Err(RunError::Idempotency(error)) if error.is_payload_mismatch()));
    assert_eq!(work.runs(), 1);

    // And the names of a result that is too large to be stored.
    let other = serde_json::json!({"order_id": 1, "version": 1});
    engine.run(&other, |_| async { Ok::<_, io::Error>("x".repeat(500_000)) }).await?;
    let items = bench.dynamo().items(TABLE).await?;
    assert!(items.iter().any(|item| item.get("type").is_some()), "its size is noted");
    Ok(())
}

#[tokio::test]
async fn names_that_collide_are_refused_before_anything_is_written() -> TestResult {
    let dynamo = loopback::DynamoDb::start().await?;
    let store = || lambda_idempotency::DynamoDbStore::new(dynamo.client(), TABLE);
    let mut names = lambda_idempotency::dynamodb::AttributeNames::default();
    names.expiration = "ttl".into();
    names.in_progress_expiration = "ttl".into();
    let error = store().attribute_names(names.clone()).expect_err("two attributes of one name").to_string();
    assert!(error.contains("`ttl`") && error.contains("in_progress_expiration"), "{error}");
    names.in_progress_expiration = String::new();
    assert!(store().attribute_names(names).is_err());
    Ok(())
}
