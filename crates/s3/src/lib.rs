//! Results that are too large for a record, in an S3 bucket.
//!
//! Two rights on the objects suffice: `s3:PutObject` and `s3:GetObject`; and `s3:ListBucket` on the bucket, without
//! which S3 answers "access denied" for an object that is gone. Give the bucket a lifecycle rule that deletes
//! what is older than the longest `expires_after`: this library deletes nothing, and an attempt that died between
//! its object and its record leaves an object that no record names.
//!
//! ```no_run
//! # async fn start() -> Result<(), Box<dyn std::error::Error>> {
//! use lambda_idempotency_core::{Engine, Key, MemoryStore};
//! use lambda_idempotency_s3::{S3Offload, aws_sdk_s3};
//!
//! # let config: aws_sdk_s3::Config = unimplemented!();
//! let client = aws_sdk_s3::Client::from_conf(config);
//! let engine = Engine::new("reports.render", MemoryStore::new(), Key::parse("report_id")?)?
//!     .offload(S3Offload::new(client, "results-bucket"))?;
//! # Ok(())
//! # }
//! ```

mod error;

use std::fmt;

pub use aws_sdk_s3;
use aws_sdk_s3::Client;
use aws_sdk_s3::primitives::ByteStream;
use lambda_idempotency_core::{Object, Offload, StoreError, StoreErrorKind};

/// Keeps results in one bucket, each as an object of its own: `{prefix}{record id}/{owner}`, with `/` for the `#` of
/// the id. Cheap to clone.
///
/// The object holds what the record would have held (encrypted where a cipher is installed). The record names the
/// object, so that a changed prefix or bucket name leaves earlier results readable only where they were written:
/// change it together with the function's `name`, or wait for `expires_after`.
#[derive(Clone)]
pub struct S3Offload {
    client: Client,
    bucket: String,
    prefix: String,
}

impl S3Offload {
    /// A place in `bucket` that uses `client` as it is: its region, credentials, timeouts and retries.
    ///
    /// Give the client an operation timeout of a few seconds. The engine waits no longer than the policy's store
    /// timeout in any case.
    pub fn new(client: Client, bucket: impl Into<String>) -> Self {
        Self { client, bucket: bucket.into(), prefix: "idempotency/".to_owned() }
    }

    /// What the objects' names begin with; `idempotency/` unless set.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }
}

#[async_trait::async_trait]
impl Offload for S3Offload {
    fn name(&self) -> &str {
        "s3"
    }

    async fn put(&self, object: Object<'_>) -> Result<String, StoreError> {
        let id = object.id.as_str().replace('#', "/");
        let key = format!("{}{id}/{}", self.prefix, object.owner.as_str());
        let request = self.client.put_object().bucket(&self.bucket).key(&key);
        let sent = request.body(ByteStream::from(object.bytes.to_vec())).send().await;
        sent.map_err(|failure| error::failed("PutObject", &self.bucket, failure))?;
        Ok(key)
    }

    async fn get(&self, reference: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let sent = self.client.get_object().bucket(&self.bucket).key(reference).send().await;
        let output = match sent {
            Ok(output) => output,
            Err(failure) if failure.as_service_error().is_some_and(|service| service.is_no_such_key()) => {
                return Ok(None);
            }
            Err(failure) => return Err(error::failed("GetObject", &self.bucket, failure)),
        };
        let what = || format!("GetObject in S3 bucket `{}`", self.bucket);
        let body = output.body.collect().await.map_err(|failure| {
            // The connection broke in the middle of the object.
            StoreError::new(StoreErrorKind::Unreachable, what())
                .code("the object did not arrive")
                .source(failure)
        })?;
        Ok(Some(body.to_vec()))
    }
}

impl fmt::Debug for S3Offload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S3 bucket `{}`", self.bucket)
    }
}
