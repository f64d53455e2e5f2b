//! Which AWS service sent an event, from the event's own text.
//!
//! An event is recognised by the markers that the service writes and a user's payload does not
//! have, all of them and in their types. An object that has only some, or others beside the ones
//! of an envelope, is a payload like any other. A single record that was taken out of `Records`
//! is recognised like the event it came from.
//!
//! | source | what the [fingerprint](crate::Fingerprint::Whole) covers |
//! |---|---|
//! | SQS | `body` |
//! | SNS | `Sns.Message` |
//! | Kinesis | `kinesis.data` |
//! | DynamoDB stream | `eventName`, `dynamodb.Keys`, `NewImage`, `OldImage` |
//! | S3 | bucket, key, `versionId` or else `eTag`, `sequencer` |
//! | EventBridge | `source`, `detail-type`, `detail` |
//! | API Gateway v1, ALB | method, path, query, body |
//! | API Gateway v2, function URL | method, path, query, body |
//! | anything else | the whole input |

mod content;
mod markers;

pub(crate) use content::content;

use crate::json::error::CanonicalError;

/// A service that delivers events to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// Amazon SQS.
    Sqs,
    /// Amazon SNS.
    Sns,
    /// Amazon Kinesis Data Streams.
    Kinesis,
    /// Amazon DynamoDB Streams.
    DynamoDbStream,
    /// Amazon S3 event notifications.
    S3,
    /// Amazon EventBridge (event buses and schedules in the same envelope).
    EventBridge,
    /// API Gateway REST API, or HTTP API with payload format 1.0.
    ApiGatewayV1,
    /// API Gateway HTTP API with payload format 2.0.
    ApiGatewayV2,
    /// Lambda function URL.
    FunctionUrl,
    /// Application Load Balancer.
    Alb,
}

impl Source {
    /// The name that goes into the rule of a fingerprint. It never changes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Source::Sqs => "sqs",
            Source::Sns => "sns",
            Source::Kinesis => "kinesis",
            Source::DynamoDbStream => "dynamodb-stream",
            Source::S3 => "s3",
            Source::EventBridge => "eventbridge",
            Source::ApiGatewayV1 => "api-gateway-v1",
            Source::ApiGatewayV2 => "api-gateway-v2",
            Source::FunctionUrl => "function-url",
            Source::Alb => "alb",
        }
    }
}

/// Which service sent this event, or the event that this record was taken out of. `None` for a
/// payload of the user's own.
///
/// # Errors
///
/// [`CanonicalError`] if the text is not JSON with one meaning.
///
/// ```
/// use lambda_idempotency_key::source::{Source, recognise};
/// let record = r#"{"eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:eu-west-1:1:q",
///     "messageId":"m","receiptHandle":"r","attributes":{},"body":"{}"}"#;
/// assert_eq!(recognise(record)?, Some(Source::Sqs));
/// assert_eq!(recognise(r#"{"eventSource":"aws:sqs","body":"{}"}"#)?, None);
/// # Ok::<(), lambda_idempotency_key::CanonicalError>(())
/// ```
pub fn recognise(json: &str) -> Result<Option<Source>, CanonicalError> {
    Ok(markers::event(json)?.map(|event| event.source))
}

/// How many records the event carries in `Records`; `None` if it is not such an event of a
/// recognised source. More than one is more than one piece of work.
///
/// # Errors
///
/// [`CanonicalError`] if the text is not JSON with one meaning.
///
/// ```
/// use lambda_idempotency_key::source::record_count;
/// assert_eq!(record_count(r#"{"Records":[{"mine":1},{"mine":2}]}"#)?, None);
/// # Ok::<(), lambda_idempotency_key::CanonicalError>(())
/// ```
pub fn record_count(json: &str) -> Result<Option<usize>, CanonicalError> {
    let event = markers::event(json)?;
    Ok(event.and_then(|event| event.enveloped.then_some(event.parts.len())))
}
