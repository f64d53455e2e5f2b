//! Makes an AWS Lambda function written in Rust safe to invoke twice.
//!
//! Every queue, bus and client in front of a function delivers at least once. `#[idempotent]` claims
//! the work by one conditional write before it starts, records the result after it, and answers every
//! duplicate from the record: done → the stored result; in progress → an error that says when to come
//! back; same key with other content → a loud mismatch; the holder died → takeover when its lease has
//! passed.
//!
//! ```no_run
//! use lambda_idempotency::{DynamoDbStore, Raw, idempotent, install, service_fn};
//! use lambda_runtime::{Error, LambdaEvent, run};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize)]
//! struct Order {
//!     order_id: u64,
//!     version: u32,
//! }
//!
//! #[derive(Serialize, Deserialize)]
//! struct Receipt {
//!     run_id: String,
//! }
//!
//! /// Key = order id and version: a retry is the same key, an edited order is a new one.
//! #[idempotent(key = "[order_id, version]", expires_after = "30d")]
//! async fn submit(event: LambdaEvent<Raw<Order>>) -> Result<Receipt, Error> {
//!     let order = &event.payload; // `Raw<Order>` derefs to `Order`
//!     Ok(Receipt { run_id: format!("run-{}-{}", order.order_id, order.version) })
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Error> {
//!     install(DynamoDbStore::from_env().await?)?; // table name from IDEMPOTENCY_TABLE
//!     run(service_fn(submit)).await
//! }
//! ```
//!
//! # Features
//!
//! | feature | what | default |
//! |---|---|---|
//! | `dynamodb` | `DynamoDbStore` | yes |
//! | `aws-config` | `DynamoDbStore::from_env`, with a TLS stack | yes |
//! | `sqs` | [`batch`]`::sqs` | yes |
//! | `encryption` | `Aes256Gcm` for [`install_cipher`] | no |
//! | `s3` | `S3Offload` for [`install_offload`] | no |
//! | `testing` | `testing`: a store and a clock of the test's own; the conformance suite | no |
//!
//! # Keys
//!
//! JMESPath, with `powertools_json`, `powertools_base64`, `powertools_base64_gzip` and
//! `header(multiValueHeaders || headers, 'idempotency-key')`, which ignores case. Every part of `[a, b]` must be
//! there; an optional one is written `a || 'none'`.
//!
//! # Log
//!
//! Each guarded call logs one line (`tracing`, target `lambda_idempotency`) with `function`,
//! `record_id`, `outcome` and `takeover`. `outcome` is a name of [`Outcome`] or [`Error`], or
//! `FunctionFailed`, `FailureReplayed`, `Panicked` or `Dropped`. Payloads, raw keys and results never appear in logs
//! or errors. [`install_observer`] tells the same to a counter ([`EmfMetrics`]), [`observed`] to the caller of one
//! call.

pub mod batch;
pub mod model;
pub mod proxy;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;

mod answering;
mod answers;
mod bounds;
mod compute_id;
mod emf;
mod event_input;
mod installed;
mod json_members;
mod layer;
mod place;
mod raw;
mod refused;
mod service_fn;
mod site;

pub use answering::AnsweringFn;
pub use compute_id::{compute_id, compute_id_with};
pub use emf::EmfMetrics;
pub use installed::{install, install_cipher, install_observer, install_offload, install_secret};
#[cfg(feature = "encryption")]
pub use lambda_idempotency_core::Aes256Gcm;
pub use lambda_idempotency_core::key::{ExpressionError, KeyError, Powertools, PowertoolsHash, SecretError};
pub use lambda_idempotency_core::{
    Attempt, Cached, Cipher, CipherError, Clock, Engine, EpochMillis, EpochSeconds, Error, Fingerprint,
    Identity, InProgress, Invocation, JsonFault, Key, Lease, MemoryStore, MissingKey, NotRecordedReason,
    Object, Observation, Observer, Offload, OnError, Outcome, Policy, Previous, RecordId, Redacted,
    RefusedWrite, Replay, ReplaySource, ResultMode, Results, RunError, Secret, Store, StoreError,
    StoreErrorKind, SystemClock, Typed, decide, expiry, observed,
};
#[cfg(feature = "dynamodb")]
pub use lambda_idempotency_dynamodb::{self as dynamodb, DynamoDbStore};
/// ```
/// use lambda_idempotency::{Error, MemoryStore, OnError, Policy, Raw, idempotent};
/// use lambda_runtime::LambdaEvent;
/// use serde::{Deserialize, Serialize};
/// use std::sync::Arc;
///
/// # #[derive(Serialize, Deserialize)] struct Order { order_id: u64, version: u32 }
/// # #[derive(Serialize, Deserialize)] struct Receipt { run_id: String }
/// # struct Client;
/// # impl Client { async fn create(&self, _: &Order) -> Result<Receipt, PayError> { Err(PayError::Timeout) } }
/// // A handler: the key is taken from the bytes of the event.
/// #[idempotent(key = "[order_id, version]", name = "orders.handle")]
/// async fn handle(event: LambdaEvent<Raw<Order>>) -> Result<u64, lambda_runtime::Error> {
///     Ok(event.payload.order_id)
/// }
///
/// /// A method with other arguments beside the input, a store of its own and a policy.
/// struct Shop { store: Arc<MemoryStore> }
/// static PATIENT: Policy = Policy::new().margin(std::time::Duration::from_secs(10));
///
/// #[derive(Debug, thiserror::Error, Serialize, Deserialize)]
/// enum PayError {
///     #[error("declined")]
///     Declined,
///     #[error("timeout")]
///     Timeout,
///     #[error("not paid: {0}")]
///     Idempotency(String),
/// }
///
/// impl From<Error> for PayError {
///     fn from(error: Error) -> Self {
///         Self::Idempotency(error.to_string())
///     }
/// }
///
/// /// A declined card is an answer for everybody who asks; after anything else the next attempt is real.
/// fn is_answer(error: &PayError) -> OnError {
///     if matches!(error, PayError::Declined) { OnError::Store } else { OnError::Release }
/// }
///
/// impl Shop {
///     #[idempotent(
///         key = "order_id",
///         input = order,
///         store = self.store.clone(),
///         expires_after = "7d",
///         on_error = is_answer,
///         policy = PATIENT,
///     )]
///     async fn pay(&mut self, client: &Client, order: &Order) -> Result<Receipt, PayError> {
///         client.create(order).await
///     }
/// }
/// ```
pub use lambda_idempotency_macros::idempotent;
#[cfg(feature = "s3")]
pub use lambda_idempotency_s3::{self as s3, S3Offload};
pub use layer::{IdempotencyLayer, IdempotencyService};
pub use raw::Raw;
pub use service_fn::{ServiceFn, service_fn};

/// What `#[idempotent]` expands to. Not part of the public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::answers::{answers, returns};
    pub use crate::event_input::{event_input, input};
    pub use crate::site::{Site, policy};
}
