//! A worker outside of Lambda: orders come as lines on standard input, one after the other, without any
//! deadline. The lease is renewed while an order is worked on.

use std::io::BufRead;
use std::time::Duration;

use lambda_idempotency::{DynamoDbStore, Engine, Key, Lease, Policy};
use orders::{Order, Provider};
use serde_json::Value;

#[tokio::main]
async fn main() -> Result<(), lambda_runtime::Error> {
    lambda_runtime::tracing::init_default_subscriber();
    // `Lease::renewed()` but for a test that does not wait a minute.
    let lease = Duration::from_millis(std::env::var("LEASE_MS")?.parse()?);
    let policy = Policy::new()
        .lease(Lease::Renewed { lease, every: lease / 4 })
        .margin(Duration::from_millis(250))
        .expires_after(Duration::from_secs(3600));
    let store = DynamoDbStore::from_env().await?;
    let engine = Engine::new("plain", store, Key::parse("[order_id, version]")?)?.policy(policy)?;
    let provider = Provider::new(&std::env::var("MODEL_PROVIDER_URL")?)?;

    for line in std::io::stdin().lock().lines() {
        let input: Value = serde_json::from_str(&line?)?;
        let order: Order = serde_json::from_value(input.clone())?;
        let work = |_| async {
            let receipt = provider.create_run(&order, Duration::from_secs(120)).await?;
            Ok::<_, orders::ProviderError>(receipt.run_id)
        };
        match engine.run(&input, work).await {
            Ok(outcome) => println!("answer: {}", outcome.into_value().unwrap_or_default()),
            Err(error) => println!("no answer: {error}"),
        }
    }
    Ok(())
}
