//! The orders worker, with a table of orders of its own: which run was paid for which version is written in
//! the same transaction as the recorded answer, so that the two cannot disagree. A worker that starts again
//! reads the row instead of guessing.

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use lambda_idempotency::dynamodb::Writes;
use lambda_idempotency::dynamodb::aws_sdk_dynamodb::error::BuildError;
use lambda_idempotency::dynamodb::aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem, Update};
use lambda_idempotency::{Attempt, batch, idempotent};
use lambda_runtime::{Error, LambdaEvent};
use orders::{Order, Provider, ProviderError, Receipt};

/// Why an order was not submitted.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The record said no, or could not be asked; a row that refused is
    /// [`TransactionRefused`](lambda_idempotency::Error::TransactionRefused).
    #[error("not submitted")]
    Idempotency(#[from] lambda_idempotency::Error),
    /// The provider said no, or did not answer.
    #[error("not submitted: {0}")]
    Provider(#[from] ProviderError),
    /// The row could not be put into words.
    #[error("not submitted: {0}")]
    Row(#[from] BuildError),
}

/// The worker and what it needs.
#[derive(Debug, Clone)]
pub struct Worker {
    provider: Provider,
    orders_table: String,
}

impl Worker {
    /// A worker that calls `provider` and keeps orders in `orders_table`, whose partition key is `order_id` (N).
    pub fn new(provider: Provider, orders_table: impl Into<String>) -> Self {
        Self { provider, orders_table: orders_table.into() }
    }

    /// The Lambda handler: each message of the batch is its own piece of work.
    ///
    /// # Errors
    /// When the batch cannot be answered message by message.
    pub async fn handle(&self, event: LambdaEvent<SqsEvent>) -> Result<SqsBatchResponse, Error> {
        Ok(batch::sqs(event, |order| async move { self.submit(&order).await }).await?)
    }

    /// One paid run per order and version; the order's row moves to the new version with it, and never back
    /// to an older one.
    ///
    /// # Errors
    /// [`SubmitError`].
    #[idempotent(
        key = "[order_id, version]",
        input = order,
        expires_after = "25d",
        name = "orders.submit"
    )]
    pub async fn submit(&self, order: &batch::Record<Order>) -> Result<Receipt, SubmitError> {
        let attempt = Attempt::current();
        let time_left = attempt.as_ref().map(Attempt::time_left).unwrap_or_default();
        let receipt = self.provider.create_run(order, time_left).await?;
        if let Some(attempt) = attempt {
            attempt.commit_with(Writes::new([self.row(order, &receipt)?])?)?;
        }
        Ok(receipt)
    }

    fn row(&self, order: &Order, receipt: &Receipt) -> Result<TransactWriteItem, BuildError> {
        let number = |number: u64| AttributeValue::N(number.to_string());
        let update = Update::builder()
            .table_name(&self.orders_table)
            .key("order_id", number(order.order_id))
            .update_expression("SET #version = :version, run_id = :run_id")
            .condition_expression("attribute_not_exists(#version) OR #version < :version")
            .expression_attribute_names("#version", "version")
            .expression_attribute_values(":version", number(u64::from(order.version)))
            .expression_attribute_values(":run_id", AttributeValue::S(receipt.run_id.clone()))
            .build()?;
        Ok(TransactWriteItem::builder().update(update).build())
    }
}
