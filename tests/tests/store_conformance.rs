//! The conformance suite and random histories on DynamoDB: each service that can stand in for it, with
//! and without the old item in its refusals.

use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
};
use lambda_idempotency::dynamodb::{AttributeNames, SortKey};
use lambda_idempotency::testing::{ManualClock, Subject, conformance, histories};
use lambda_idempotency::{Clock, DynamoDbStore, EpochMillis, MemoryStore, Store};
use lambda_idempotency_tests::{NOW, TestResult};
use loopback::{DynamoDb, Fault, Proxy, dynamo};

const TABLE: &str = "conformance";
/// Every case that the suite has must have been run.
const CASES: usize = 61;

/// A store whose time is the clock of its requests.
struct Moved<S> {
    store: S,
    clock: ManualClock,
}

impl<S> Moved<S> {
    fn new(store: S) -> Self {
        Self { store, clock: ManualClock::at(NOW) }
    }
}

#[async_trait::async_trait]
impl<S: Store> Subject for Moved<S> {
    fn store(&self) -> &dyn Store {
        &self.store
    }
    fn now(&self) -> EpochMillis {
        self.clock.now()
    }
    async fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}

async fn conforms(store: impl Store) -> TestResult {
    let report = conformance::run(&Moved::new(store)).await;
    report.assert();
    assert_eq!(report.total(), CASES);
    Ok(())
}

async fn agrees_with_memory(client: &Client, seeds: u64) -> TestResult {
    for seed in 0..seeds {
        let store = DynamoDbStore::new(client.clone(), TABLE);
        histories::play(&Moved::new(store), seed, 60).await?;
    }
    Ok(())
}

async fn dynoxide() -> Result<DynamoDb, loopback::Error> {
    let dynamo = DynamoDb::start().await?;
    dynamo.create_table(TABLE).await?;
    Ok(dynamo)
}

#[tokio::test]
async fn memory_conforms() -> TestResult {
    conforms(MemoryStore::new()).await
}

#[tokio::test]
async fn dynamodb_conforms() -> TestResult {
    let dynamo = dynoxide().await?;
    conforms(DynamoDbStore::new(dynamo.client(), TABLE)).await
}

/// A table with a sort key, and the id in either half of the primary key.
#[tokio::test]
async fn dynamodb_with_a_sort_key_conforms() -> TestResult {
    for sort_key in [SortKey::fixed("SK", "IDEMPOTENCY"), SortKey::with_id("SK", "idempotency#orders")] {
        let dynamo = DynamoDb::start().await?;
        dynamo.create_table_with_keys(TABLE, &["PK", "SK"]).await?;
        let mut names = AttributeNames::default();
        names.id = "PK".into();
        names.sort_key = Some(sort_key);
        conforms(DynamoDbStore::new(dynamo.client(), TABLE).attribute_names(names)?).await?;
    }
    Ok(())
}

/// Reserved words, which DynamoDB takes only behind placeholders: in every condition and update of every verb.
#[tokio::test]
async fn dynamodb_with_reserved_words_for_names_conforms() -> TestResult {
    let dynamo = DynamoDb::start().await?;
    dynamo.create_table_with_keys(TABLE, &["key"]).await?;
    let mut names = AttributeNames::default();
    names.id = "key".into();
    names.expiration = "ttl".into();
    names.in_progress_expiration = "timestamp".into();
    names.validation = "hash".into();
    names.owner = "user".into();
    names.deadline = "time".into();
    names.encoding = "type".into();
    names.stored_at = "date".into();
    conforms(DynamoDbStore::new(dynamo.client(), TABLE).attribute_names(names)?).await
}

#[tokio::test]
async fn dynamodb_agrees_with_memory_in_random_histories() -> TestResult {
    let dynamo = dynoxide().await?;
    agrees_with_memory(&dynamo.client(), 20).await
}

/// A service that refuses without showing the record: every refusal takes a read.
#[tokio::test]
async fn dynamodb_without_old_items_conforms() -> TestResult {
    let dynamo = dynoxide().await?;
    let proxy = Proxy::start(dynamo.endpoint()).await?;
    for operation in ["PutItem", "UpdateItem"] {
        proxy.fault_always(operation, Fault::StripOldItem);
    }
    let client = dynamo::client_for(&proxy.endpoint());
    conforms(DynamoDbStore::new(client.clone(), TABLE)).await?;
    assert!(proxy.operations().iter().any(|operation| operation == "GetItem"));
    agrees_with_memory(&client, 5).await
}

#[tokio::test]
#[ignore = "needs moto; scripts/test starts it and names it in MOTO_ENDPOINT"]
async fn moto_conforms() -> TestResult {
    on_service("MOTO_ENDPOINT").await
}

/// dynalite never returns the old item.
#[tokio::test]
#[ignore = "needs dynalite; scripts/test starts it and names it in DYNALITE_ENDPOINT"]
async fn dynalite_conforms() -> TestResult {
    on_service("DYNALITE_ENDPOINT").await
}

async fn on_service(variable: &str) -> TestResult {
    let endpoint = std::env::var(variable).map_err(|_| format!("{variable} does not name the service"))?;
    let client = dynamo::client_for(&endpoint);
    create_table(&client).await?;
    conforms(DynamoDbStore::new(client.clone(), TABLE)).await?;
    agrees_with_memory(&client, 5).await
}

async fn create_table(client: &Client) -> TestResult {
    let id = AttributeDefinition::builder().attribute_name("id").attribute_type(ScalarAttributeType::S);
    let key = KeySchemaElement::builder().attribute_name("id").key_type(KeyType::Hash);
    let created = client
        .create_table()
        .table_name(TABLE)
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(id.build()?)
        .key_schema(key.build()?)
        .send()
        .await;
    match created {
        Ok(_) => {}
        // From an earlier run against the same service; the suite uses records of its own.
        Err(error) if error.as_service_error().is_some_and(|error| error.is_resource_in_use_exception()) => {}
        Err(error) => return Err(error.into()),
    }
    // Some services make the table a moment later.
    for _ in 0..100 {
        let described = client.describe_table().table_name(TABLE).send().await?;
        let status = described.table().and_then(|table| table.table_status());
        if status.is_some_and(|status| status.as_str() == "ACTIVE") {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(format!("table {TABLE} is not active after 5 s").into())
}
