//! DynamoDB in this process, behind a real HTTP endpoint.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::error::DisplayErrorContext;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::Error;

const REGION: &str = "us-east-1";

/// An empty DynamoDB. Dropping it closes the port and ends the requests that are idle.
#[derive(Debug)]
pub struct DynamoDb {
    endpoint: String,
    shutdown: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl DynamoDb {
    /// Starts it.
    pub async fn start() -> Result<DynamoDb, Error> {
        let doing = "listening on 127.0.0.1";
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(Error::io(doing))?;
        let address = listener.local_addr().map_err(Error::io(doing))?;
        let database = dynoxide::Database::memory().map_err(|error| Error::DynamoDb(error.to_string()))?;
        let (shutdown, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let stopped = async {
                // Sent or dropped, it means the same.
                let _ = stopped.await;
            };
            if let Err(error) = dynoxide::server::serve_with_shutdown(listener, database, stopped).await {
                eprintln!("dynoxide: {error}");
            }
        });
        Ok(DynamoDb { endpoint: format!("http://{address}"), shutdown, task })
    }

    /// `http://127.0.0.1:PORT`
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// A client of it.
    pub fn client(&self) -> Client {
        client_for(&self.endpoint)
    }

    /// What a worker's environment needs to find it.
    pub fn env(&self) -> Vec<(String, String)> {
        env_for(&self.endpoint)
    }

    /// An on-demand table whose key is the string `id`.
    pub async fn create_table(&self, name: &str) -> Result<(), Error> {
        self.create_table_with_keys(name, &["id"]).await
    }

    /// An on-demand table whose keys are these strings: the partition key, and the sort key if there is a second.
    pub async fn create_table_with_keys(&self, name: &str, keys: &[&str]) -> Result<(), Error> {
        let mut request = self.client().create_table().table_name(name);
        for (key, of) in keys.iter().zip([KeyType::Hash, KeyType::Range]) {
            let definition = AttributeDefinition::builder().attribute_name(*key);
            let definition = definition.attribute_type(ScalarAttributeType::S).build();
            let element = KeySchemaElement::builder().attribute_name(*key).key_type(of).build();
            request = request
                .attribute_definitions(definition.map_err(refused)?)
                .key_schema(element.map_err(refused)?);
        }
        request.billing_mode(BillingMode::PayPerRequest).send().await.map_err(refused)?;
        Ok(())
    }

    /// Every item of a table, in no order.
    pub async fn items(&self, table: &str) -> Result<Vec<HashMap<String, AttributeValue>>, Error> {
        let pages = self.client().scan().table_name(table).consistent_read(true).into_paginator();
        pages.items().send().collect::<Result<_, _>>().await.map_err(refused)
    }

    /// Stops it and waits for the end of its connections, so that the next request finds nobody.
    ///
    /// A client with a connection in use holds this up.
    pub async fn stop(self) {
        drop(self.shutdown);
        let _ = self.task.await;
    }
}

fn refused(error: impl std::error::Error) -> Error {
    Error::DynamoDb(DisplayErrorContext(error).to_string())
}

/// A client of any endpoint on loopback: dummy credentials, no retries, an error within five seconds.
pub fn client_for(endpoint: &str) -> Client {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(1))
        .operation_timeout(Duration::from_secs(5))
        .build();
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(REGION))
        .endpoint_url(endpoint)
        .credentials_provider(Credentials::new("loopback", "loopback", None, None, "loopback"))
        .http_client(http_client())
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts)
        .build();
    Client::from_conf(config)
}

/// Plain HTTP, for clients of what listens on loopback.
pub fn http_client() -> aws_sdk_dynamodb::config::SharedHttpClient {
    aws_smithy_http_client::Builder::new().build_http()
}

/// What a worker's environment needs to find this endpoint: address, region and dummy credentials.
pub fn env_for(endpoint: &str) -> Vec<(String, String)> {
    let pairs = [
        ("AWS_ENDPOINT_URL_DYNAMODB", endpoint),
        ("AWS_REGION", REGION),
        ("AWS_ACCESS_KEY_ID", "loopback"),
        ("AWS_SECRET_ACCESS_KEY", "loopback"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}
