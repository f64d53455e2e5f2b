//! What DynamoDB's errors mean, and how to mend what they name.

use crate::AttributeNames;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use lambda_idempotency_core::{StoreError, StoreErrorKind as Kind};

/// One call, for the wording of its failure.
pub(crate) struct Call<'a> {
    pub(crate) operation: &'static str,
    pub(crate) table: &'a str,
    pub(crate) names: &'a AttributeNames,
}

impl Call<'_> {
    pub(crate) fn failed<E>(&self, error: SdkError<E, HttpResponse>) -> StoreError
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        let (kind, code) = match &error {
            SdkError::ServiceError(service) => {
                let status = service.raw().status().as_u16();
                let code =
                    service.err().code().map_or_else(|| format!("HTTP status {status}"), str::to_owned);
                let kind = match kind_of(&code) {
                    Kind::Other if status >= 500 => Kind::ServerFault,
                    // Of a transaction it can be about the caller's own items.
                    Kind::Other if code == VALIDATION && self.operation != "TransactWriteItems" => {
                        of_validation(service.err().message().unwrap_or_default())
                    }
                    kind => kind,
                };
                (kind, code)
            }
            SdkError::TimeoutError(_) => (Kind::TimedOut, "the client's timeout".to_owned()),
            SdkError::DispatchFailure(dispatch) if dispatch.is_timeout() => {
                (Kind::TimedOut, "timeout".to_owned())
            }
            SdkError::DispatchFailure(dispatch) if dispatch.is_io() => {
                (Kind::Unreachable, "no connection".to_owned())
            }
            // What the connector itself calls retryable: a connection that was closed before the answer.
            SdkError::DispatchFailure(dispatch) if dispatch.as_other().is_some() => {
                (Kind::Unreachable, "the connection was lost before the answer".to_owned())
            }
            SdkError::DispatchFailure(_) => (Kind::Other, "the request could not be sent".to_owned()),
            SdkError::ResponseError(_) => (Kind::ServerFault, "the answer is not DynamoDB's".to_owned()),
            _ => (Kind::Other, "the request could not be made".to_owned()),
        };
        let what = format!("{} on DynamoDB table `{}`", self.operation, self.table);
        let cure = self.cure(kind, &code);
        let store_error = StoreError::new(kind, what).code(code);
        match cure {
            Some(cure) => store_error.cure(cure),
            None => store_error,
        }
        .source(error)
    }

    fn cure(&self, kind: Kind, code: &str) -> Option<String> {
        let Self { operation, table, names } = self;
        Some(match kind {
            Kind::NotFound => format!(
                "create the table `{table}` in this account and region, or name the right one (IDEMPOTENCY_TABLE)"
            ),
            // A transaction has no right of its own: each of its writes needs that of its kind.
            Kind::AccessDenied if *operation == "TransactWriteItems" => {
                "give the function's role `dynamodb:UpdateItem` on this table and the right for each of its own \
                 writes, or check its credentials"
                    .to_owned()
            }
            Kind::AccessDenied => format!(
                "give the function's role `dynamodb:{operation}` on this table, or check its credentials"
            ),
            Kind::WrongSchema => {
                let sort_key = match &names.sort_key {
                    None => "no sort key".to_owned(),
                    Some(sort_key) => format!("the sort key `{}` of type S", sort_key.name),
                };
                format!(
                    "the table needs the partition key `{}` of type S and {sort_key}; create it so, or say with \
                     `DynamoDbStore::attribute_names` what its keys are",
                    names.id
                )
            }
            Kind::Throttled => "raise the table's capacity or make it on-demand".to_owned(),
            Kind::TimedOut | Kind::Unreachable => {
                "check the endpoint, the region and the function's route to DynamoDB".to_owned()
            }
            Kind::Other if code == VALIDATION => {
                format!("check that `{table}` can be a table's name; DynamoDB's own words are among the sources")
            }
            Kind::Other => "check region and credentials of the client".to_owned(),
            _ => return None,
        })
    }
}

const VALIDATION: &str = "ValidationException";

/// Error codes as documented for DynamoDB ("Error handling with DynamoDB") and for AWS requests
/// in general ("Common errors").
fn kind_of(code: &str) -> Kind {
    match code {
        "ResourceNotFoundException" => Kind::NotFound,
        "AccessDeniedException"
        | "AccessDenied"
        | "UnrecognizedClientException"
        | "InvalidSignatureException"
        | "IncompleteSignatureException"
        | "MissingAuthenticationTokenException"
        | "MissingAuthenticationToken"
        | "ExpiredTokenException"
        | "ExpiredToken"
        | "InvalidClientTokenId"
        | "NotAuthorized"
        | "OptInRequired" => Kind::AccessDenied,
        "ProvisionedThroughputExceededException"
        | "ThrottlingException"
        | "Throttling"
        | "RequestThrottled"
        | "RequestThrottledException"
        | "RequestLimitExceeded"
        | "SlowDown"
        | "TooManyRequestsException"
        | "TransactionConflictException"
        // The same transaction is still being applied: the next try learns its end.
        | "TransactionInProgressException"
        | "ReplicatedWriteConflictException" => Kind::Throttled,
        "RequestTimeout" | "RequestTimeoutException" | "RequestExpired" => Kind::TimedOut,
        "InternalServerError"
        | "InternalServerErrorException"
        | "InternalFailure"
        | "ServiceUnavailable"
        | "ServiceUnavailableException" => Kind::ServerFault,
        _ => Kind::Other,
    }
}

/// "The provided key element does not match the schema", "Missing the key id in the item",
/// "Type mismatch for key id expected: N actual: S".
fn of_validation(message: &str) -> Kind {
    if message.contains("key") { Kind::WrongSchema } else { Kind::Other }
}
