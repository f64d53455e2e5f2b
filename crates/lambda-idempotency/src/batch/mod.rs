//! One event, several pieces of work: each record is its own claim.
//!
//! A batch helper claims nothing itself: the annotated function (or
//! [`Engine::run`](crate::Engine::run)) that is called for each record does.

mod record;
#[cfg(feature = "sqs")]
mod sqs;

pub use record::Record;
#[cfg(feature = "sqs")]
pub use sqs::{BatchError, SQS_WINDOW, sqs};
