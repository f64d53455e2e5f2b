//! Which work is this, and what exactly was asked: idempotency keys and fingerprints.
//!
//! Pure functions over JSON text: no I/O, no clock, no async. The input is the text that arrived,
//! not a typed value that was written out again, so unknown members and exact numbers count.
//!
//! ```
//! use lambda_idempotency_key::{Fingerprint, Key, Name, RecordId};
//!
//! let key = Key::parse("[order_id, version]")?;
//! let event = r#"{"version": 3, "order_id": 7, "note": "please hurry"}"#;
//!
//! let id = RecordId::new(&Name::new("orders.submit")?, None, &key.of(event)?, None);
//! assert!(id.as_str().starts_with("orders.submit#"));
//!
//! let validation = Fingerprint::Whole.of(event)?.expect("not switched off");
//! assert!(validation.as_str().starts_with("1:"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | where | what |
//! |---|---|
//! | [`Expression`] | a checked JMESPath expression and what it selects |
//! | [`Key`], [`KeyValue`] | the rules for what a key may be |
//! | [`Name`], [`Secret`], [`RecordId`] | the id of the stored record |
//! | [`Fingerprint`], [`Validation`] | what was asked, and how two of them compare |
//! | [`Powertools`] | ids and fingerprints as the Powertools utilities of other languages make them |
//! | [`source`] | which AWS service sent an event |
//! | [`canonical`] | the canonical form of JSON |

mod eval;
mod expression;
mod fingerprint;
mod hash;
mod json;
mod key;
mod name;
mod number;
mod powertools;
mod record_id;
mod secret;
pub mod source;
mod validation;
mod volatile;

pub use expression::Expression;
pub use expression::error::ExpressionError;
pub use expression::select::{DecodeReason, SelectError, Selection};
pub use fingerprint::Fingerprint;
pub use json::canonical::canonical;
pub use json::error::{CanonicalError, CanonicalReason};
pub use key::{Key, KeyError, KeyValue};
pub use name::{Name, NameError};
pub use powertools::{Powertools, PowertoolsHash};
pub use record_id::RecordId;
pub use secret::{Secret, SecretError};
pub use validation::{Comparable, Comparison, Validation};
