//! The Lambda binary. `IDEMPOTENCY_TABLE` names the DynamoDB table, `MODEL_PROVIDER_URL` the provider.

use lambda_idempotency::{DynamoDbStore, install, service_fn};
use lambda_runtime::{Error, run, tracing};
use orders::{Provider, Worker};

#[tokio::main]
async fn main() -> Result<(), Error> {
    tracing::init_default_subscriber();
    install(DynamoDbStore::from_env().await?)?;
    let url = std::env::var("MODEL_PROVIDER_URL")
        .map_err(|_| "MODEL_PROVIDER_URL is not set: name the address of the model provider")?;
    let worker = Worker::new(Provider::new(&url)?);
    run(service_fn(|event| worker.handle(event))).await
}
