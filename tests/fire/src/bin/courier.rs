//! A Lambda binary that answers what it saw, and dies as its event says.
// A user has 128, and code of his own around a guarded call: what this library takes of it must leave room.
#![recursion_limit = "110"]

use std::sync::OnceLock;
use std::time::Duration;

use lambda_idempotency::{Attempt, DynamoDbStore, Invocation, Raw, idempotent, install, service_fn};
use lambda_runtime::{Error, LambdaEvent, tracing};
use orders::{Order, Provider};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

#[derive(Debug, Deserialize)]
struct Task {
    order_id: u64,
    version: u32,
    instruction: String,
    /// What happens after the provider has answered.
    #[serde(default)]
    then: String,
    /// Whether this delivery waits for another one that is at work.
    #[serde(default)]
    patient: bool,
}

/// What the run saw: everybody who asks for this work gets the same.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    run_id: String,
    order_id: u64,
    request_id: String,
    lease_end_ms: i64,
    deadline_ms: Option<i64>,
    token: Option<String>,
}

/// What the handler around it saw.
#[derive(Debug, Serialize)]
struct Reply {
    answer: Answer,
    request_id: String,
    deadline_ms: Option<i64>,
    attempt_goes_on: bool,
}

#[derive(Debug, thiserror::Error)]
enum CourierError {
    #[error("not delivered")]
    Idempotency(#[from] lambda_idempotency::Error),
    #[error("not delivered: {0}")]
    Provider(#[from] orders::ProviderError),
    #[error("given up")]
    GivenUp,
}

static PROVIDER: OnceLock<Provider> = OnceLock::new();
static STANDS: Notify = Notify::const_new();

fn deadline_ms() -> Option<i64> {
    Invocation::current().deadline.instant().map(|instant| instant.get())
}

#[idempotent(
    key = "[order_id, version]",
    fingerprint = "instruction",
    expires_after = "1h",
    name = "courier"
)]
async fn deliver(event: LambdaEvent<Raw<Task>>) -> Result<Answer, CourierError> {
    carry(event).await
}

/// The same work, by one who waits.
#[idempotent(
    key = "[order_id, version]",
    fingerprint = "instruction",
    expires_after = "1h",
    name = "courier",
    wait = "2m"
)]
async fn deliver_patiently(event: LambdaEvent<Raw<Task>>) -> Result<Answer, CourierError> {
    carry(event).await
}

async fn carry(event: LambdaEvent<Raw<Task>>) -> Result<Answer, CourierError> {
    let attempt = Attempt::current();
    let Task { order_id, version, instruction, then, .. } = &*event.payload;
    let order = Order { order_id: *order_id, version: *version, instruction: instruction.clone() };
    if then == "panic after the effect" {
        attempt.iter().for_each(Attempt::effect_started);
    }
    let provider = PROVIDER.get().ok_or(CourierError::GivenUp)?;
    // Longer than the lease: this one can outlive it.
    let receipt = provider.create_run(&order, Duration::from_secs(120)).await?;
    match then.as_str() {
        "panic" | "panic after the effect" => panic!("as the event says"),
        "abort" => std::process::abort(),
        "stand still" => {
            STANDS.notify_one();
            std::future::pending::<()>().await;
        }
        _ => {}
    }
    Ok(Answer {
        run_id: receipt.run_id,
        order_id: *order_id,
        request_id: event.context.request_id,
        lease_end_ms: attempt.as_ref().map_or(0, |attempt| attempt.lease_end().get()),
        deadline_ms: deadline_ms(),
        token: attempt.and_then(|attempt| attempt.token("run")),
    })
}

async fn handle(event: LambdaEvent<Raw<Task>>) -> Result<Reply, CourierError> {
    let request_id = event.context.request_id.clone();
    let stands_still = event.payload.then == "stand still";
    let answer = if event.payload.patient {
        deliver_patiently(event).await?
    } else if stands_still {
        let mut call = Box::pin(deliver(event));
        tokio::select! {
            answer = &mut call => answer?,
            // The provider has been paid; what is left takes too long.
            () = STANDS.notified() => {
                tokio::time::timeout(Duration::from_millis(50), call).await.map_err(|_| CourierError::GivenUp)??
            }
        }
    } else {
        deliver(event).await?
    };
    let attempt_goes_on = Attempt::current().is_some();
    Ok(Reply { answer, request_id, deadline_ms: deadline_ms(), attempt_goes_on })
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Error> {
    tracing::init_default_subscriber();
    install(DynamoDbStore::from_env().await?)?;
    let url = std::env::var("MODEL_PROVIDER_URL")?;
    let _ = PROVIDER.set(Provider::new(&url)?);
    lambda_runtime::run_concurrent(service_fn(handle)).await
}
