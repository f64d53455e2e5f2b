//! What the cases share.

use std::fmt::Debug;
use std::sync::Arc;

use lambda_idempotency::testing::{self, ManualClock};
use lambda_idempotency::{EpochMillis, MemoryStore};
use serde::{Deserialize, Serialize};

pub use lambda_idempotency::{Error, Raw, idempotent};
pub use lambda_runtime::{Context, LambdaEvent};

/// An input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// Which.
    pub order_id: u64,
    /// And how often it was edited.
    pub version: u32,
}

/// Order 77.
pub fn order() -> Order {
    Order { order_id: 77, version: 3 }
}

/// An event with order 77.
///
/// # Panics
/// Never: it is an order.
pub fn event() -> LambdaEvent<Raw<Order>> {
    let payload = Raw::from_json(r#"{"order_id": 77, "version": 3}"#).expect("an order");
    LambdaEvent::new(payload, Context::default())
}

/// A result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// Other in each run.
    pub run: usize,
}

/// Something that can neither be serialised nor cloned.
#[derive(Debug, Default)]
pub struct Client {
    runs: std::sync::atomic::AtomicUsize,
}

impl Client {
    /// Does the work, which gives another result each time.
    pub fn work(&self) -> Receipt {
        Receipt { run: self.runs.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1 }
    }
}

/// As [`Client::work`], of one client for all.
pub fn work() -> Receipt {
    static CLIENT: Client = Client { runs: std::sync::atomic::AtomicUsize::new(0) };
    CLIENT.work()
}

/// Runs two calls of one work on one memory store, and expects one record and one answer.
///
/// # Panics
/// When they differ, fail, or have another number of records.
pub fn one_answer<T, E, F>(first: F, second: F)
where
    T: PartialEq + Debug,
    E: Debug,
    F: Future<Output = Result<T, E>> + Send,
{
    let store = Arc::new(MemoryStore::new());
    let first = on(&store, first).expect("the first call");
    let second = on(&store, second).expect("the second call");
    assert_eq!(first, second);
    assert_eq!(store.records().len(), 1, "{:?}", store.records());
}

/// Runs `future` on `store`.
///
/// # Panics
/// When there is no runtime to be had.
pub fn on<F: Future>(store: &Arc<MemoryStore>, future: F) -> F::Output {
    let clock = Arc::new(ManualClock::at(EpochMillis::new(1_900_000_000_000)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(testing::scope(Arc::clone(store), clock, future))
}
