//! An SQS worker that asks a model provider for one run per order and version, and keeps the receipt.
//!
//! Orders arrive as SQS messages whose body is an [`Order`] in JSON. Whatever is delivered twice, by
//! the queue or by the producer, is answered from the record of the first time.

mod provider;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use lambda_idempotency::{Attempt, batch, idempotent};
use lambda_runtime::{Error, LambdaEvent};
use serde::{Deserialize, Serialize};

pub use provider::{Provider, ProviderError};

/// What a customer wants made.
#[derive(Debug, Deserialize)]
pub struct Order {
    /// The order, in the shop's own numbering.
    pub order_id: u64,
    /// Moves whenever the paid result should differ, and never for a retry.
    pub version: u32,
    /// What the model is told.
    pub instruction: String,
}

/// What the provider answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The provider's id of the paid run.
    pub run_id: String,
}

/// Why an order was not submitted.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The record said no, or could not be asked; see [`lambda_idempotency::Error`].
    #[error("not submitted")]
    Idempotency(#[from] lambda_idempotency::Error),
    /// The provider said no, or did not answer.
    #[error("not submitted: {0}")]
    Provider(#[from] ProviderError),
}

/// The worker and what it needs.
#[derive(Debug, Clone)]
pub struct Worker {
    provider: Provider,
}

impl Worker {
    /// A worker that calls `provider`.
    pub fn new(provider: Provider) -> Self {
        Self { provider }
    }

    /// The Lambda handler: each message of the batch is its own piece of work.
    ///
    /// # Errors
    /// When the batch cannot be answered message by message.
    pub async fn handle(&self, event: LambdaEvent<SqsEvent>) -> Result<SqsBatchResponse, Error> {
        Ok(batch::sqs(event, |order| async move { self.submit(&order).await }).await?)
    }

    /// One paid run per order and version. A message can lie in the dead-letter queue for two weeks,
    /// be sent back and lie in the queue for another, so the record lives longer than both.
    ///
    /// # Errors
    /// [`SubmitError`].
    #[idempotent(
        key = "[order_id, version]",
        input = order,
        expires_after = "30d",
        name = "orders.submit"
    )]
    pub async fn submit(&self, order: &batch::Record<Order>) -> Result<Receipt, SubmitError> {
        // A call that outlives the lease can be made twice, so it has less time than that.
        let time_left = Attempt::current().map(|attempt| attempt.time_left()).unwrap_or_default();
        Ok(self.provider.create_run(order, time_left).await?)
    }
}
