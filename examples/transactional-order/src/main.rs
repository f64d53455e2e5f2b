//! The Lambda binary. `IDEMPOTENCY_TABLE` and `ORDERS_TABLE` name the tables, `MODEL_PROVIDER_URL` the
//! provider. The role needs `dynamodb:UpdateItem` on the orders table as well.

use lambda_idempotency::{DynamoDbStore, install, service_fn};
use lambda_runtime::{Error, run, tracing};
use orders::Provider;
use transactional_order::Worker;

#[tokio::main]
async fn main() -> Result<(), Error> {
    tracing::init_default_subscriber();
    install(DynamoDbStore::from_env().await?)?;
    let variable = |name: &str| std::env::var(name).map_err(|_| format!("{name} is not set"));
    let worker = Worker::new(Provider::new(&variable("MODEL_PROVIDER_URL")?)?, variable("ORDERS_TABLE")?);
    run(service_fn(|event| worker.handle(event))).await
}
