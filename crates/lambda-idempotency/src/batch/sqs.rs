//! SQS: records one after the other, answered with the partial batch response.

use std::error::Error as StdError;
use std::future::Future;
use std::time::Duration;

use aws_lambda_events::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent};
use lambda_runtime::LambdaEvent;
use serde::de::DeserializeOwned;
use tracing::Instrument;

use super::Record;
use crate::service_fn::invocation;
use crate::{Error, Raw, expiry};

/// How late SQS can deliver the same work again at its defaults: kept 4 days, received 5 times,
/// hidden for 30 seconds. The life of a record where `expires_after` is not set.
pub const SQS_WINDOW: Duration = expiry::sqs(Duration::from_secs(4 * 24 * 3600), 5, Duration::from_secs(30));

/// What is wrong with a batch as a whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// A record without an id could fail but not be reported. Nothing was run.
    #[error(
        "record {index} of the batch has no messageId, so its failure could not be reported; is this an SQS event?"
    )]
    NoMessageId {
        /// Position in `Records`, from 0.
        index: usize,
    },
}

/// Calls `work` for each record, in order, and reports exactly the records that failed.
///
/// A record fails when its body is not the JSON of a `T` or when `work` returns `Err`; a record whose
/// work is in progress elsewhere is one of these, so that SQS delivers it again later. The event
/// source mapping must have `ReportBatchItemFailures`, else SQS takes every answer for success.
///
/// ```
/// use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
/// use lambda_idempotency::{batch, idempotent};
/// use lambda_runtime::{Error, LambdaEvent};
///
/// #[derive(serde::Deserialize)]
/// struct Job { job_id: String }
///
/// #[idempotent(key = "job_id", name = "jobs.summarise")]
/// async fn summarise(job: batch::Record<Job>) -> Result<usize, Error> {
///     Ok(job.job_id.len())
/// }
///
/// async fn handler(event: LambdaEvent<SqsEvent>) -> Result<SqsBatchResponse, Error> {
///     Ok(batch::sqs(event, summarise).await?)
/// }
/// ```
///
/// # Errors
/// [`BatchError`] when the batch cannot be answered record by record; nothing was run then.
pub async fn sqs<T, F, Fut, R, E>(
    event: LambdaEvent<SqsEvent>,
    work: F,
) -> Result<SqsBatchResponse, BatchError>
where
    T: DeserializeOwned,
    F: Fn(Record<T>) -> Fut,
    Fut: Future<Output = Result<R, E>>,
    E: Into<Box<dyn StdError + Send + Sync>>,
{
    let invocation = invocation(&event.context).source_window(SQS_WINDOW);
    let mut records = Vec::with_capacity(event.payload.records.len());
    for (index, message) in event.payload.records.into_iter().enumerate() {
        let id = message.message_id.filter(|id| !id.is_empty()).ok_or(BatchError::NoMessageId { index })?;
        records.push((id, message.body.unwrap_or_default()));
    }

    let mut failures = Vec::new();
    for (message_id, body) in records {
        let span = tracing::info_span!(target: "lambda_idempotency", "record", message_id = %message_id);
        let one = async {
            let body = Raw::from_json(&body).map_err(|error| error.to_string())?;
            work(Record::new(&message_id, body)).await.map_err(|error| log_failure(error.into()))
        };
        // From<String>: the failure of a body is worded by us.
        let result: Result<R, Logged> = invocation.clone().scope(one.instrument(span)).await;
        if result.is_err() {
            let mut failure = BatchItemFailure::default();
            failure.item_identifier = message_id;
            failures.push(failure);
        }
    }
    let mut response = SqsBatchResponse::default();
    response.batch_item_failures = failures;
    Ok(response)
}

/// A failure that has been logged: nobody else will see it, since the batch itself succeeds.
struct Logged;

impl From<String> for Logged {
    fn from(unreadable_body: String) -> Self {
        tracing::error!(target: "lambda_idempotency", error = %unreadable_body, "the record cannot be read and is returned to the queue");
        Self
    }
}

fn log_failure(error: Box<dyn StdError + Send + Sync>) -> Logged {
    let busy = Error::find(&*error).is_some_and(Error::is_already_in_progress);
    if busy {
        tracing::info!(target: "lambda_idempotency", error = %error, "the record is in progress elsewhere and is returned to the queue");
    } else {
        tracing::error!(target: "lambda_idempotency", error = %error, "the record failed and is returned to the queue");
    }
    Logged
}
