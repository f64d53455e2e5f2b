//! For tests of annotated functions: [`scope`] gives them a store and a clock of the test's own,
//! without touching the process, so that tests can run side by side. For authors of stores: the
//! [`conformance`] suite, random [`histories`] and a store that fails on demand.

use std::future::Future;
use std::sync::Arc;

pub use lambda_idempotency_core::testing::{
    Fault, FaultyStore, ManualClock, Subject, Verb, conformance, histories,
};

use crate::{Clock, Store};

/// Runs `future` with `store` as the installed store and `clock` as the clock. A task that `future` spawns is
/// outside of it: give it a scope of its own. ([`Engine::run_detached`](crate::Engine::run_detached) carries it
/// over.)
///
/// ```
/// use lambda_idempotency::{EpochMillis, Error, MemoryStore, idempotent, testing};
/// use std::sync::Arc;
///
/// #[idempotent(key = "@")]
/// async fn double(number: u32) -> Result<u32, Error> {
///     Ok(number * 2)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let clock = Arc::new(testing::ManualClock::at(EpochMillis::new(1_900_000_000_000)));
/// let store = Arc::new(MemoryStore::new());
/// assert_eq!(testing::scope(store.clone(), clock, double(21)).await?, 42);
/// assert_eq!(store.records().len(), 1);
/// # Ok(())
/// # }
/// ```
pub async fn scope<F: Future>(store: impl Store + 'static, clock: Arc<dyn Clock>, future: F) -> F::Output {
    let future = lambda_idempotency_core::clock::scope(clock, future);
    lambda_idempotency_core::scopes::with_store(Arc::new(store), future).await
}
