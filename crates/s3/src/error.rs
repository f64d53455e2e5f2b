//! What S3's errors mean, and how to mend what they name.

use aws_sdk_s3::config::http::HttpResponse;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use lambda_idempotency_core::{StoreError, StoreErrorKind as Kind};

/// The failure of one call, in this library's words.
pub(crate) fn failed<E>(operation: &str, bucket: &str, error: SdkError<E, HttpResponse>) -> StoreError
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    let (kind, code) = match &error {
        SdkError::ServiceError(service) => {
            let status = service.raw().status().as_u16();
            let code = service.err().code().map_or_else(|| format!("HTTP status {status}"), str::to_owned);
            (kind_of(&code, status), code)
        }
        SdkError::TimeoutError(_) => (Kind::TimedOut, "the client's timeout".to_owned()),
        SdkError::DispatchFailure(dispatch) if dispatch.is_timeout() => {
            (Kind::TimedOut, "timeout".to_owned())
        }
        SdkError::DispatchFailure(dispatch) if dispatch.is_io() || dispatch.as_other().is_some() => {
            (Kind::Unreachable, "no connection".to_owned())
        }
        SdkError::DispatchFailure(_) => (Kind::Other, "the request could not be sent".to_owned()),
        SdkError::ResponseError(_) => (Kind::ServerFault, "the answer is not S3's".to_owned()),
        _ => (Kind::Other, "the request could not be made".to_owned()),
    };
    let store_error = StoreError::new(kind, format!("{operation} in S3 bucket `{bucket}`")).code(code);
    match cure(kind, operation, bucket) {
        Some(cure) => store_error.cure(cure),
        None => store_error,
    }
    .source(error)
}

fn cure(kind: Kind, operation: &str, bucket: &str) -> Option<String> {
    Some(match kind {
        Kind::NotFound => {
            format!("create the bucket `{bucket}` in the client's region, or name the right one")
        }
        Kind::AccessDenied => format!(
            "give the function's role `s3:{operation}` on the bucket's objects (and `s3:ListBucket` on the bucket, \
             without which an object that is gone looks like this), or check its credentials"
        ),
        Kind::TimedOut | Kind::Unreachable => {
            "check the endpoint, the region and the function's route to S3".to_owned()
        }
        Kind::Other => "check region and credentials of the client".to_owned(),
        _ => return None,
    })
}

/// Error codes as documented for S3 ("Error responses", "List of error codes").
fn kind_of(code: &str, status: u16) -> Kind {
    match code {
        "NoSuchBucket" => Kind::NotFound,
        "AccessDenied"
        | "InvalidAccessKeyId"
        | "SignatureDoesNotMatch"
        | "ExpiredToken"
        | "InvalidToken"
        | "AllAccessDisabled" => Kind::AccessDenied,
        "SlowDown" | "Throttling" | "ThrottlingException" | "RequestLimitExceeded" | "TooManyRequests" => {
            Kind::Throttled
        }
        "RequestTimeout" => Kind::TimedOut,
        _ if status >= 500 => Kind::ServerFault,
        _ => Kind::Other,
    }
}
