//! A store under test.

use std::time::Duration;

use crate::{EpochMillis, Store};

/// A store and its time.
///
/// A store without a clock of its own (memory, DynamoDB) judges by the `now` of each request: move
/// the clock that [`Subject::now`] reads. A store whose server has a clock (Redis, PostgreSQL) is
/// moved by shifting every stored time *back* by the same amount.
#[async_trait::async_trait]
pub trait Subject: Send + Sync {
    /// The store.
    fn store(&self) -> &dyn Store;

    /// The instant that requests carry.
    fn now(&self) -> EpochMillis;

    /// Lets `by` pass, as far as the store can tell.
    async fn advance(&self, by: Duration);
}
