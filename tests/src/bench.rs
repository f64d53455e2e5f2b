use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::types::AttributeValue;
use lambda_idempotency::store::Record;
use lambda_idempotency::testing::{self, ManualClock};
use lambda_idempotency::{DynamoDbStore, Engine, Error, Key, MemoryStore, Store};
use loopback::{DynamoDb, Proxy};

use crate::NOW;

/// A row as DynamoDB holds it.
pub type Item = HashMap<String, AttributeValue>;

/// The table of every test.
pub const TABLE: &str = "idempotency";

/// A client of `endpoint` that tries three times with next to no pause.
pub fn client(endpoint: &str) -> Client {
    let retries = RetryConfig::standard().with_max_attempts(3).with_initial_backoff(Duration::from_millis(1));
    let config = loopback::dynamo::client_for(endpoint).config().to_builder().retry_config(retries).build();
    Client::from_conf(config)
}

/// A store, and a clock that stands at [`NOW`].
#[derive(Debug)]
pub struct Bench {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The clock of everything that runs on this bench.
    pub clock: Arc<ManualClock>,
    parts: Parts,
}

#[derive(Debug)]
enum Parts {
    Memory(Arc<MemoryStore>),
    DynamoDb(DynamoDb, Box<Proxy>),
}

impl Bench {
    /// An empty memory store.
    pub fn memory() -> Self {
        let store = Arc::new(MemoryStore::new());
        let clock = Arc::new(ManualClock::at(NOW));
        Self { store: store.clone(), clock, parts: Parts::Memory(store) }
    }

    /// An empty table, asked through a proxy by a client that retries.
    ///
    /// # Errors
    /// When a part does not start.
    pub async fn dynamodb() -> Result<Self, loopback::Error> {
        Self::dynamodb_with(|store| store, &["id"]).await
    }

    /// An empty table whose keys are `keys` (partition, sort), and a store that was changed by `change`.
    ///
    /// # Errors
    /// When a part does not start.
    pub async fn dynamodb_with(
        change: impl FnOnce(DynamoDbStore) -> DynamoDbStore,
        keys: &[&str],
    ) -> Result<Self, loopback::Error> {
        let dynamo = DynamoDb::start().await?;
        dynamo.create_table_with_keys(TABLE, keys).await?;
        let proxy = Proxy::start(dynamo.endpoint()).await?;
        let store = change(DynamoDbStore::new(client(&proxy.endpoint()), TABLE));
        let clock = Arc::new(ManualClock::at(NOW));
        Ok(Self { store: Arc::new(store), clock, parts: Parts::DynamoDb(dynamo, Box::new(proxy)) })
    }

    /// An engine for the work `name`.
    ///
    /// # Errors
    /// When `key` is no key.
    pub fn engine(&self, name: &str, key: &str) -> Result<Engine, Error> {
        self.engine_on(self.store.clone(), name, key)
    }

    /// An engine as another process has it: with a client of its own, but on the same records.
    ///
    /// # Errors
    /// When `key` is no key.
    pub fn engine_of_another_process(&self, name: &str, key: &str) -> Result<Engine, Error> {
        match &self.parts {
            Parts::Memory(store) => self.engine_on(store.clone(), name, key),
            Parts::DynamoDb(_, proxy) => {
                let store = DynamoDbStore::new(client(&proxy.endpoint()), TABLE);
                self.engine_on(Arc::new(store), name, key)
            }
        }
    }

    fn engine_on(&self, store: Arc<dyn Store>, name: &str, key: &str) -> Result<Engine, Error> {
        let key = Key::parse(key).map_err(|error| Error::Config { message: error.to_string() })?;
        Ok(Engine::new(name, store, key)?.clock(self.clock.clone()))
    }

    /// Runs annotated functions with this store and this clock.
    pub fn run<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        testing::scope(self.store.clone(), self.clock.clone(), future)
    }

    /// How many records there are, expired ones too.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub async fn count(&self) -> Result<usize, loopback::Error> {
        Ok(match &self.parts {
            Parts::Memory(store) => store.records().len(),
            Parts::DynamoDb(dynamo, _) => dynamo.items(TABLE).await?.len(),
        })
    }

    /// The records of a memory store, expired ones too.
    ///
    /// # Panics
    /// On DynamoDB.
    pub fn memory_records(&self) -> Vec<Record> {
        match &self.parts {
            Parts::Memory(store) => store.records(),
            Parts::DynamoDb(..) => panic!("a table has items"),
        }
    }

    /// The proxy in front of the table.
    ///
    /// # Panics
    /// On a memory store.
    pub fn proxy(&self) -> &Proxy {
        match &self.parts {
            Parts::DynamoDb(_, proxy) => proxy,
            Parts::Memory(_) => panic!("a memory store has no proxy"),
        }
    }

    /// DynamoDB itself.
    ///
    /// # Panics
    /// On a memory store.
    pub fn dynamo(&self) -> &DynamoDb {
        match &self.parts {
            Parts::DynamoDb(dynamo, _) => dynamo,
            Parts::Memory(_) => panic!("a memory store has no DynamoDB"),
        }
    }

    /// The only row of the table.
    ///
    /// # Errors
    /// When there is another number of rows.
    pub async fn only_item(&self) -> Result<Item, loopback::Error> {
        let mut items = self.dynamo().items(TABLE).await?;
        match (items.pop(), items.len()) {
            (Some(item), 0) => Ok(item),
            (_, more) => Err(loopback::Error::DynamoDb(format!("not one item but {more} more or none"))),
        }
    }

    /// Writes a row by hand.
    ///
    /// # Errors
    /// When the table refuses it.
    pub async fn put(&self, item: Item) -> Result<(), loopback::Error> {
        let request = self.dynamo().client().put_item().table_name(TABLE).set_item(Some(item));
        request.send().await.map_err(|error| loopback::Error::DynamoDb(format!("{error:?}")))?;
        Ok(())
    }
}
