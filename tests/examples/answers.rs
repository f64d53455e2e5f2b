//! A Lambda binary with one guarded handler that does what its event says: for the tests of what
//! leaves a function.

use std::time::Duration;

use lambda_idempotency::{DynamoDbStore, Raw, idempotent, install, service_fn};
use lambda_runtime::{Error, LambdaEvent, run, tracing};
use serde::Deserialize;

#[derive(Deserialize)]
struct Job {
    #[serde(default)]
    then: String,
}

/// The application's own error, with the library's among its sources.
#[derive(Debug, thiserror::Error)]
enum JobError {
    #[error("the job was not done")]
    Idempotency(#[from] lambda_idempotency::Error),
    #[error("the job failed")]
    Failed,
}

#[idempotent(key = "job_id", name = "jobs.handle")]
async fn handle(event: LambdaEvent<Raw<Job>>) -> Result<String, JobError> {
    match event.payload.then.as_str() {
        "fail" => Err(JobError::Failed),
        "panic" => panic!("as the event says"),
        "wait" => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            Ok("waited".to_owned())
        }
        _ => Ok(event.context.request_id),
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    tracing::init_default_subscriber();
    install(DynamoDbStore::from_env().await?)?;
    run(service_fn(handle)).await
}
