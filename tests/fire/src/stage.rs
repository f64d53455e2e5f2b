use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::types::AttributeValue;
use lambda_idempotency::{Engine, Key, MemoryStore};
use lambda_idempotency_tests::{ORDER_KEY, TABLE};
use loopback::{Call, DynamoDb, Lambda, LambdaOptions, Provider};
use serde_json::{Value, json};

use crate::{Chaos, Seed};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Worker processes, the provider that they pay, and DynamoDB behind a proxy that can break.
#[derive(Debug)]
pub struct Stage {
    /// The workers.
    pub lambda: Lambda,
    /// Whose calls cost money.
    pub provider: Provider,
    /// The proxy between workers and table.
    pub chaos: Chaos,
    /// The table, without the proxy.
    pub dynamo: DynamoDb,
    name: String,
}

impl Stage {
    /// Starts `workers` processes of `binary`, whose guarded function has this name.
    ///
    /// # Errors
    /// When a part does not start.
    pub async fn start(binary: PathBuf, name: &str, workers: usize, seed: Seed) -> Result<Self, Failure> {
        let options = LambdaOptions { workers, ..LambdaOptions::new(binary, "under-fire") };
        Self::start_with(options, name, seed).await
    }

    /// As [`start`](Self::start), with a say in everything. The environment is completed.
    ///
    /// # Errors
    /// When a part does not start.
    pub async fn start_with(mut options: LambdaOptions, name: &str, seed: Seed) -> Result<Self, Failure> {
        let dynamo = DynamoDb::start().await?;
        dynamo.create_table(TABLE).await?;
        let chaos = Chaos::start(dynamo.endpoint(), seed).await?;
        let provider = Provider::start().await?;
        options.env.extend(loopback::dynamo::env_for(&chaos.endpoint()));
        options.env.push(("IDEMPOTENCY_TABLE".into(), TABLE.into()));
        options.env.push(("MODEL_PROVIDER_URL".into(), provider.url()));
        let lambda = Lambda::start(options).await?;
        Ok(Self { lambda, provider, chaos, dynamo, name: name.to_owned() })
    }

    /// The id of an order's record.
    ///
    /// # Errors
    /// When the order has none.
    pub fn record_id(&self, order: &Value) -> Result<String, Failure> {
        let engine = Engine::new(&self.name, MemoryStore::new(), Key::parse(ORDER_KEY)?)?;
        let identity = engine.identify(order)?.ok_or("an order has a key")?;
        Ok(identity.id().as_str().to_owned())
    }

    /// The row of an order.
    ///
    /// # Errors
    /// When there is none.
    pub async fn item(&self, order: &Value) -> Result<HashMap<String, AttributeValue>, Failure> {
        let id = AttributeValue::S(self.record_id(order)?);
        let items = self.dynamo.items(TABLE).await?;
        Ok(items.into_iter().find(|item| item.get("id") == Some(&id)).ok_or("no such row")?)
    }

    /// Waits until the lease of an order, and the margin after it, has passed.
    ///
    /// # Errors
    /// When there is no lease.
    pub async fn lease_has_passed(&self, order: &Value) -> Result<(), Failure> {
        let lease_end = millis_of(&self.item(order).await?, "in_progress_expiration")?;
        until_ms(lease_end + 2_000 + 1).await;
        Ok(())
    }

    /// The `data` of an order whose record is complete.
    ///
    /// # Errors
    /// When it is not.
    pub async fn data(&self, order: &Value) -> Result<Value, Failure> {
        let item = self.item(order).await?;
        match (item.get("status"), item.get("data")) {
            (Some(AttributeValue::S(status)), Some(AttributeValue::S(data))) if status == "COMPLETED" => {
                Ok(serde_json::from_str(data)?)
            }
            other => Err(format!("no completed record: {other:?}").into()),
        }
    }

    /// What the workers logged of an order.
    ///
    /// # Errors
    /// When the order has no id.
    pub fn log(&self, order: &Value) -> Result<Log, Failure> {
        let id = self.record_id(order)?;
        let lines = self.lambda.lines();
        let entries = lines.iter().filter_map(|line| serde_json::from_str::<Value>(&line.text).ok());
        let fields =
            entries.map(|entry| if entry["fields"].is_object() { entry["fields"].clone() } else { entry });
        Ok(Log(fields.filter(|fields| fields["record_id"] == *id && fields["outcome"].is_string()).collect()))
    }

    /// How often the provider was called for an order.
    pub fn calls(&self, order: &Value) -> usize {
        self.calls_of(order).len()
    }

    /// The provider's calls for an order.
    pub fn calls_of(&self, order: &Value) -> Vec<Call> {
        let (id, version) = (order["order_id"].to_string(), order["version"].to_string());
        let mut calls = self.provider.calls();
        calls.retain(|call| call.order_id == id && call.version == version);
        calls
    }

    /// Ends the workers.
    pub async fn stop(self) {
        self.lambda.stop().await;
    }
}

/// The lines that say what became of each guarded call for one order.
#[derive(Debug)]
pub struct Log(Vec<Value>);

impl Log {
    /// How many calls ended like this.
    pub fn outcomes(&self, outcome: &str) -> usize {
        self.0.iter().filter(|fields| fields["outcome"] == outcome).count()
    }

    /// How many calls held the record as a takeover.
    pub fn takeovers(&self) -> usize {
        self.flagged("takeover")
    }

    /// How many calls found that another had taken over from them.
    pub fn zombies(&self) -> usize {
        self.flagged("lease_lost")
    }

    fn flagged(&self, flag: &str) -> usize {
        self.0.iter().filter(|fields| fields[flag] == true).count()
    }
}

/// Version 1 of an order.
pub fn order(order_id: u64) -> Value {
    json!({"order_id": order_id, "version": 1, "instruction": "15s teaser"})
}

/// A number of a row.
///
/// # Errors
/// When it is none.
pub fn millis_of(item: &HashMap<String, AttributeValue>, attribute: &str) -> Result<i64, Failure> {
    match item.get(attribute) {
        Some(AttributeValue::N(number)) => Ok(number.parse()?),
        other => Err(format!("{attribute}: {other:?}").into()),
    }
}

/// The wall clock.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Returns when the wall clock is there.
pub async fn until_ms(instant: i64) {
    while let Ok(left @ 1..) = u64::try_from(instant - now_ms()) {
        tokio::time::sleep(Duration::from_millis(left)).await;
    }
}
