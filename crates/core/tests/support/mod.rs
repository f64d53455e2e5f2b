//! What the engine's tests share.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    missing_docs,
    reason = "each test file uses a part of it"
)]

mod around;
mod ledger;
mod paused;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lambda_idempotency_core::decide::Deadline;
use lambda_idempotency_core::testing::{FaultyStore, ManualClock};
use lambda_idempotency_core::{
    Clock, Engine, EpochMillis, Error, Invocation, Key, Outcome, Policy, Record, RunError,
};
use serde_json::{Value, json};

pub use around::{Around, Wrapped};
pub use ledger::{Entry, Ledger};
pub use paused::Paused;

pub const START: EpochMillis = EpochMillis::new(1_900_000_000_000);
/// The time that an ordinary invocation has.
pub const TIME: Duration = Duration::from_secs(30);

pub type Ran = Result<Outcome<String>, RunError<&'static str>>;

/// A store in memory that can be broken, a clock, and a counter of effects.
pub struct Bed {
    pub store: Arc<FaultyStore<Ledger>>,
    pub clock: Arc<ManualClock>,
    effects: AtomicUsize,
}

impl Bed {
    pub fn new() -> Self {
        Self::with_clock(ManualClock::at(START))
    }

    pub fn with_clock(clock: ManualClock) -> Self {
        let clock = Arc::new(clock);
        let store = FaultyStore::new(Ledger::default()).clock(Arc::clone(&clock) as Arc<dyn Clock>);
        Self { store: Arc::new(store), clock, effects: AtomicUsize::new(0) }
    }

    pub fn engine(&self, policy: Policy) -> Engine {
        Engine::new("bed", Arc::clone(&self.store), Key::parse("id").expect("a key"))
            .and_then(|engine| engine.policy(policy))
            .expect("an engine")
            .clock(Arc::clone(&self.clock) as Arc<dyn Clock>)
    }

    /// One invocation with an ordinary deadline, whose function has an effect and succeeds.
    pub async fn run(&self, engine: &Engine, input: &Value) -> Ran {
        self.invoke(TIME, engine.run(input, |_| async { Ok(self.effect()) })).await
    }

    /// The same, whose function has an effect and fails.
    pub async fn fail(&self, engine: &Engine, input: &Value) -> Ran {
        let work = async {
            self.effect();
            Err("declined")
        };
        self.invoke(TIME, engine.run(input, |_| work)).await
    }

    /// A worker that dies in the middle of its work: nothing of it is heard any more.
    pub async fn die(&self, engine: &Engine, input: &Value) {
        let work = self.invoke(
            TIME,
            engine.run(input, |_| async {
                self.effect();
                std::future::pending::<Result<String, &'static str>>().await
            }),
        );
        let mut work = std::pin::pin!(work);
        while self.effects() == 0 {
            assert!(futures_util::poll!(&mut work).is_pending());
            tokio::task::yield_now().await;
        }
    }

    /// `future` within an invocation that has `time` left.
    pub async fn invoke<F: Future>(&self, time: Duration, future: F) -> F::Output {
        Invocation::new(Deadline::At(self.clock.now().plus(time))).scope(future).await
    }

    pub fn effect(&self) -> String {
        format!("run-{}", self.effects.fetch_add(1, Ordering::SeqCst) + 1)
    }

    pub fn effects(&self) -> usize {
        self.effects.load(Ordering::SeqCst)
    }

    /// The one record that there is.
    pub fn record(&self) -> Option<Record> {
        let mut records = self.store.inner().records();
        assert!(records.len() <= 1, "{records:?}");
        records.pop()
    }
}

pub fn order() -> Value {
    json!({"id": 77, "instruction": "15s teaser"})
}

/// The library's own error of a run that must have one.
pub fn refusal(ran: Ran) -> Error {
    match ran {
        Err(RunError::Idempotency(error)) => error,
        other => panic!("must be refused, but: {other:?}"),
    }
}
