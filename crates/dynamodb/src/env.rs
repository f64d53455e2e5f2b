//! A store from what the Lambda environment says.

use std::time::Duration;

use aws_config::BehaviorVersion;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::Client;
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use lambda_idempotency_core::{Error, switch};

use crate::DynamoDbStore;

/// The environment variable that names the table.
const TABLE: &str = "IDEMPOTENCY_TABLE";

/// A healthy call takes milliseconds; the defaults of the SDK take many seconds to notice one that
/// is not. Three attempts of at most a second and a half, and the verb is given up after four.
const CONNECT: Duration = Duration::from_millis(1000);
const ATTEMPT: Duration = Duration::from_millis(1500);
const OPERATION: Duration = Duration::from_secs(4);
const ATTEMPTS: u32 = 3;
const FIRST_BACKOFF: Duration = Duration::from_millis(50);

impl DynamoDbStore {
    /// A store on the table named by `IDEMPOTENCY_TABLE`, with region and credentials from the
    /// Lambda environment and timeouts that fit one: 1 s to connect, 1.5 s for an attempt, 3
    /// attempts, 4 s in all.
    ///
    /// Makes no call. For another client configuration (a profile with single sign-on, a proxy)
    /// make the client yourself and use [`DynamoDbStore::new`].
    ///
    /// With `IDEMPOTENCY_DISABLED` nothing of this is needed or looked at.
    ///
    /// # Errors
    /// [`Error::Config`] when `IDEMPOTENCY_TABLE` or the region is missing, or when
    /// `IDEMPOTENCY_DISABLED` is not understood.
    pub async fn from_env() -> Result<Self, Error> {
        if switch::disabled()? {
            // A client that is never used: it has no region, no credentials and no connection.
            let config = aws_sdk_dynamodb::Config::builder().behavior_version_latest().build();
            return Ok(Self::new(Client::from_conf(config), "(disabled)"));
        }
        let table =
            std::env::var(TABLE).ok().map(|table| table.trim().to_owned()).filter(|table| !table.is_empty());
        let Some(table) = table else {
            let message = format!(
                "{TABLE} is not set: name the DynamoDB table for idempotency records in the function's environment"
            );
            return Err(Error::Config { message });
        };
        let config = aws_config::defaults(BehaviorVersion::latest())
            .http_client(Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https())
            .timeout_config(
                TimeoutConfig::builder()
                    .connect_timeout(CONNECT)
                    .operation_attempt_timeout(ATTEMPT)
                    .operation_timeout(OPERATION)
                    .build(),
            )
            .retry_config(
                RetryConfig::standard().with_max_attempts(ATTEMPTS).with_initial_backoff(FIRST_BACKOFF),
            )
            .load()
            .await;
        if config.region().is_none() {
            let message = format!("no AWS region for DynamoDB table `{table}`: set AWS_REGION");
            return Err(Error::Config { message });
        }
        Ok(Self::new(Client::new(&config), table))
    }
}
