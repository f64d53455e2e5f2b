//! What the tests share: stores to run on, and a function that a test can stop in the middle.

mod bench;
mod capture;
pub mod crashes;
mod work;

use std::error::Error as StdError;
use std::time::Duration;

use lambda_idempotency::{EpochMillis, Outcome, RunError};
use serde_json::{Value, json};

pub use bench::{Bench, Item, TABLE, client};
pub use capture::{Capture, Entry};
pub use work::Work;

/// What an annotated function of a test fails with.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// This library's errors.
    #[error("not done")]
    Idempotency(#[from] lambda_idempotency::Error),
    /// Its own.
    #[error("failed")]
    Failed,
}

/// What a test returns.
pub type TestResult = Result<(), Box<dyn StdError + Send + Sync>>;

/// 17 March 2030, a quarter past a whole second, so that rounding shows.
pub const NOW: EpochMillis = EpochMillis::new(1_900_000_000_250);

/// Long for everything that happens on this machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The key of [`order`].
pub const ORDER_KEY: &str = "[order_id, version]";

/// Version 3 of order 77.
pub fn order() -> Value {
    json!({"order_id": 77, "version": 3, "instruction": "15s teaser"})
}

/// [`order`] with another instruction, and the version not raised.
pub fn edited_order() -> Value {
    json!({"order_id": 77, "version": 3, "instruction": "30s teaser"})
}

/// An SQS event with one record for each message id and body.
pub fn sqs_event(messages: &[(&str, &str)]) -> Value {
    let record = |(id, body): &(&str, &str)| {
        json!({
            "messageId": id,
            "receiptHandle": "AQEB",
            "body": body,
            "attributes": {"ApproximateReceiveCount": "1"},
            "messageAttributes": {},
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:orders",
            "awsRegion": "us-east-1",
        })
    };
    json!({"Records": messages.iter().map(record).collect::<Vec<_>>()})
}

/// The name of an outcome or an error, as the log has it.
pub fn name_of<T, E>(answer: &Result<Outcome<T>, RunError<E>>) -> &'static str {
    match answer {
        Ok(outcome) => outcome.name(),
        Err(RunError::Idempotency(error)) => error.name(),
        Err(RunError::Function(_)) => "FunctionFailed",
        Err(RunError::Replayed(..)) => "FailureReplayed",
    }
}

/// Everything that `error` and its sources say, for people and for developers.
pub fn everything_said(error: &(dyn StdError + 'static)) -> String {
    let mut said = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        said.push_str(&format!("{error}\n{error:?}\n{error:#?}\n"));
        next = error.source();
    }
    said
}

/// Makes a test of each scenario (`async fn(Bench) -> TestResult`) on each store.
#[macro_export]
macro_rules! on_both_stores {
    ($($scenario:ident),* $(,)?) => {
        mod in_memory {
            $(#[tokio::test]
            async fn $scenario() -> $crate::TestResult {
                super::$scenario($crate::Bench::memory()).await
            })*
        }
        mod in_dynamodb {
            $(#[tokio::test]
            async fn $scenario() -> $crate::TestResult {
                super::$scenario($crate::Bench::dynamodb().await?).await
            })*
        }
    };
}

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
