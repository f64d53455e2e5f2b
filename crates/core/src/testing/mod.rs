//! Test tools for users of the library and for authors of stores.
//!
//! A store proves itself by three things: the [conformance suite](conformance), which knows every
//! rule that a store has to keep; [random histories](histories), compared with the memory store after
//! each step; and its own server, which no double can replace. The suite needs the store and a way
//! to move its time:
//!
//! ```
//! use lambda_idempotency_core::testing::{ManualClock, Subject, conformance};
//! use lambda_idempotency_core::{Clock, EpochMillis, MemoryStore, Store};
//! use std::time::Duration;
//!
//! struct Mine {
//!     store: MemoryStore, // the store under test
//!     clock: ManualClock,
//! }
//!
//! #[async_trait::async_trait]
//! impl Subject for Mine {
//!     fn store(&self) -> &dyn Store { &self.store }
//!     fn now(&self) -> EpochMillis { self.clock.now() }
//!     async fn advance(&self, by: Duration) { self.clock.advance(by) }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let mine = Mine {
//!     store: MemoryStore::new(),
//!     clock: ManualClock::at(EpochMillis::new(1_900_000_000_000)),
//! };
//! conformance::run(&mine).await.assert();
//! # }
//! ```

mod clock;
pub mod conformance;
mod faults;
pub mod histories;
mod strays;
mod subject;

pub use clock::ManualClock;
pub use faults::{Fault, FaultyStore, Verb};
pub use subject::Subject;
