//! The idempotency claim protocol: one conditional write before the work, one after it, and an
//! answer for everybody who asks again.
//!
//! This crate knows nothing of AWS. It holds the [`Record`], the pure [decisions](decide), the
//! [`Engine`] that carries them out, the [`Store`] trait and a [`MemoryStore`]. Most users want the
//! facade crate `lambda-idempotency`, which adds `#[idempotent]`, `service_fn`, batches and DynamoDB.
//!
//! ```
//! use lambda_idempotency_core::{Engine, Key, MemoryStore, Outcome};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new("orders.submit", MemoryStore::new(), Key::parse("[order_id, version]")?)?;
//! let order = serde_json::json!({"order_id": 77, "version": 3, "instruction": "15s teaser"});
//!
//! let first = engine.run(&order, |_| async { Ok::<_, std::io::Error>("run-1".to_owned()) }).await?;
//! assert_eq!(first, Outcome::Executed("run-1".to_owned()));
//!
//! let second = engine.run(&order, |_| async { Ok::<_, std::io::Error>("run-2".to_owned()) }).await?;
//! assert!(second.is_replayed());
//! assert_eq!(second.into_value().as_deref(), Some("run-1"));
//! # Ok(())
//! # }
//! ```

pub mod clock;
pub mod decide;
pub mod expiry;
#[doc(hidden)]
pub mod scopes;
pub mod switch;
#[cfg(feature = "testing")]
pub mod testing;

#[cfg(feature = "encryption")]
mod aes;
mod attempt;
mod cache;
mod cipher;
mod engine;
mod error;
mod invocation;
mod json_fault;
mod memory;
mod not_recorded;
mod observe;
mod offload;
mod outcome;
mod owner;
mod policy;
mod previous;
mod record;
mod redacted;
mod run_error;
mod store;
mod store_error;
mod time;

#[cfg(feature = "encryption")]
pub use aes::Aes256Gcm;
pub use attempt::Attempt;
pub use cache::Cached;
pub use cipher::{Cipher, CipherError};
pub use clock::{Clock, SystemClock};
#[doc(hidden)]
pub use engine::report_refusal;
pub use engine::{Engine, Identity, Results, Settings, Text, Typed};
pub use error::Error;
pub use invocation::{InInvocation, Invocation};
pub use json_fault::JsonFault;
#[doc(hidden)]
pub use json_fault::refusals;
pub use lambda_idempotency_key as key;
pub use lambda_idempotency_key::{Fingerprint, Key, RecordId, Secret, Validation};
pub use memory::MemoryStore;
pub use not_recorded::NotRecordedReason;
pub use observe::{Observation, Observer, observed};
pub use offload::{Object, Offload};
pub use outcome::{Outcome, Replay, ReplaySource};
pub use owner::Owner;
pub use policy::{InProgress, Lease, MissingKey, OnError, Policy, ResultMode};
pub use previous::Previous;
pub use record::{Record, Status};
pub use redacted::Redacted;
pub use run_error::RunError;
pub use store::{
    ClaimAnswer, ClaimRequest, CommitAnswer, CompleteAnswer, CompleteRequest, Reading, RefusedWrite,
    ReleaseAnswer, ReleaseRequest, RenewAnswer, RenewRequest, Replaced, Store, TooLarge, Writes,
};
pub use store_error::{StoreError, StoreErrorKind};
pub use time::{EpochMillis, EpochSeconds};
