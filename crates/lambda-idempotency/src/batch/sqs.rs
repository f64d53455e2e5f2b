//! SQS: records one after the other, answered with the partial batch response.

use std::collections::HashSet;
use std::error::Error as StdError;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use aws_lambda_events::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::FutureExt;
use lambda_idempotency_core::clock;
use lambda_runtime::LambdaEvent;
use serde::de::DeserializeOwned;
use tracing::Instrument;

use super::Record;
use crate::service_fn::invocation;
use crate::{Error, Invocation, Raw, expiry};

/// How late SQS can deliver the same work again at its defaults: kept 4 days, received 5 times,
/// hidden for 30 seconds. The life of a record where `expires_after` is not set.
pub const SQS_WINDOW: Duration = expiry::sqs(Duration::from_secs(4 * 24 * 3600), 5, Duration::from_secs(30));

/// A record is not started with less time than this: Lambda would stop it in the middle, and with it the
/// answer for all the others.
const RESERVE: Duration = Duration::from_millis(250);

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
/// A record fails when its body is not the JSON of a `T`, when `work` returns `Err` or panics, or when too
/// little time is left to start it; a record whose work is in progress elsewhere is one of these, so that
/// SQS delivers it again later. Work that is done but whose result is not stored
/// ([`Error::ResultNotStored`]) is a success. Each failure is logged as an error with its own text, since
/// nobody else will see it; work in progress, and a record that only waits for an earlier one, as information.
///
/// Of a FIFO queue, the records of a message group that follow a failed one are not run and reported as well,
/// so that their order is kept.
///
/// The event source mapping must have `ReportBatchItemFailures`, else SQS takes every answer for success.
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
    let invocation = invocation(&event.context).source_window(SQS_WINDOW).one_record();
    let mut messages = Vec::with_capacity(event.payload.records.len());
    for (index, message) in event.payload.records.into_iter().enumerate() {
        let id = message.message_id.clone().filter(|id| !id.is_empty());
        messages.push((id.ok_or(BatchError::NoMessageId { index })?, message));
    }

    let mut response = SqsBatchResponse::default();
    let mut failed_groups = HashSet::new();
    for (message_id, message) in messages {
        let group = fifo_group(&message);
        let span = tracing::info_span!(target: "lambda_idempotency", "record", message_id = %message_id);
        let done = async {
            if group.as_ref().is_some_and(|group| failed_groups.contains(group)) {
                // The earlier one has said why, and how bad that is.
                tracing::info!(target: "lambda_idempotency", "the record waits for an earlier one of its message group and is returned to the queue");
                return false;
            }
            if !has_time(&invocation) {
                log("too little time is left to start it");
                return false;
            }
            one(&message_id, message, &work).await
        };
        if !invocation.clone().scope(done.instrument(span)).await {
            failed_groups.extend(group);
            let mut failure = BatchItemFailure::default();
            failure.item_identifier = message_id;
            response.batch_item_failures.push(failure);
        }
    }
    Ok(response)
}

/// Whether one record is done; if not, that is logged.
async fn one<T, F, Fut, R, E>(message_id: &str, message: SqsMessage, work: &F) -> bool
where
    T: DeserializeOwned,
    F: Fn(Record<T>) -> Fut,
    Fut: Future<Output = Result<R, E>>,
    E: Into<Box<dyn StdError + Send + Sync>>,
{
    let body: Raw<T> = match Raw::from_json(&message.body.unwrap_or_default()) {
        Ok(body) => body,
        Err(error) => {
            log(&error.to_string());
            return false;
        }
    };
    let record = Record::new(message_id, body).with_attributes(message.attributes);
    // The panic of one record is no reason to deliver the others again.
    match AssertUnwindSafe(async { work(record).await }).catch_unwind().await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => is_done(error.into()),
        Err(_) => {
            log("the function panicked");
            false
        }
    }
}

/// Whether the work behind an error is done all the same; if not, that is logged.
fn is_done(error: Box<dyn StdError + Send + Sync>) -> bool {
    match Error::find(&*error) {
        Some(Error::ResultNotStored { .. }) => return true,
        // Ordinary in an at-least-once world: it is how a duplicate waits.
        Some(busy) if busy.is_already_in_progress() => {
            tracing::info!(target: "lambda_idempotency", error = %error, "the record is in progress elsewhere and is returned to the queue");
        }
        _ => log(&error.to_string()),
    }
    false
}

fn log(error: &str) {
    tracing::error!(target: "lambda_idempotency", error, "the record failed and is returned to the queue");
}

fn has_time(invocation: &Invocation) -> bool {
    let left = |deadline| clock::current().now().until(deadline);
    invocation.deadline.instant().is_none_or(|deadline| left(deadline) >= RESERVE)
}

/// The message group of a FIFO queue's message.
fn fifo_group(message: &SqsMessage) -> Option<String> {
    let is_fifo = message.event_source_arn.as_deref().is_some_and(|arn| arn.ends_with(".fifo"));
    is_fifo.then(|| message.attributes.get("MessageGroupId").cloned().unwrap_or_default())
}
