//! Whatever hangs around the work, the caller hears of it before its own deadline.

mod support;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use lambda_idempotency_core::decide::Deadline;
use lambda_idempotency_core::{
    Clock, Engine, EpochMillis, Invocation, Key, MemoryStore, Object, Offload, Policy, Reading, RecordId,
    ReleaseAnswer, ReleaseRequest, Store, StoreError,
};
use serde_json::json;
use support::{Around, Paused, Wrapped};
use tokio::time::Instant;

/// What never answers.
#[derive(Clone, Copy, Debug, Default)]
struct Hangs {
    get: bool,
    release: bool,
    put: bool,
    fetch: bool,
}

#[derive(Debug)]
struct Parts {
    store: MemoryStore,
    hangs: Hangs,
}

#[async_trait::async_trait]
impl Around for Parts {
    fn inner(&self) -> &MemoryStore {
        &self.store
    }
    async fn release(&self, request: &ReleaseRequest) -> Result<ReleaseAnswer, StoreError> {
        if self.hangs.release { pending().await } else { self.store.release(request).await }
    }
    async fn get(&self, id: &RecordId, now: EpochMillis) -> Result<Reading, StoreError> {
        if self.hangs.get { pending().await } else { self.store.get(id, now).await }
    }
}

#[async_trait::async_trait]
impl Offload for Hangs {
    fn name(&self) -> &str {
        "place"
    }
    async fn put(&self, _: Object<'_>) -> Result<String, StoreError> {
        if self.put { pending().await } else { Ok("reference".into()) }
    }
    async fn get(&self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
        if self.fetch { pending().await } else { Ok(Some(b"\"run-1\"".to_vec())) }
    }
}

#[tokio::test(start_paused = true)]
async fn what_hangs_is_told_before_the_deadline() {
    let all = Hangs::default();
    let cases = [
        ("Store", Hangs { get: true, ..all }),
        ("Store", Hangs { get: true, release: true, ..all }),
        ("Executed", Hangs { put: true, ..all }),
        ("ResultUnavailable", Hangs { fetch: true, ..all }),
        ("ResultUnavailable", Hangs { fetch: true, release: true, ..all }),
    ];
    for (expected, hangs) in cases {
        for left in [50, 100, 300, 501, 1_000, 2_700, 5_100, 10_000, 60_000].map(Duration::from_millis) {
            let clock: Arc<dyn Clock> = Arc::new(Paused::new());
            let parts = Wrapped(Parts { store: MemoryStore::new(), hangs });
            let engine = Engine::new("bed", parts, Key::parse("id").expect("a key"))
                .and_then(|engine| engine.policy(Policy::new().offload_over(0)))
                .and_then(|engine| engine.offload(hangs))
                .expect("an engine")
                .previous(Key::parse("continues").expect("a key"))
                .clock(Arc::clone(&clock));
            let run = |input| {
                let engine = engine.clone();
                async move { engine.run(&input, |_| async { Ok::<_, &'static str>("run-1".to_owned()) }).await }
            };
            if !hangs.put {
                run(json!({"id": 1})).await.expect("the work that is continued");
            }
            let (started, deadline) = (Instant::now(), Deadline::At(clock.now().plus(left)));
            let ran = Invocation::new(deadline).scope(run(json!({"id": 2, "continues": 1}))).await;
            let name = match &ran {
                Ok(outcome) => outcome.name(),
                Err(lambda_idempotency_core::RunError::Idempotency(error)) => error.name(),
                Err(_) => "the function's own",
            };
            assert_eq!(name, expected, "{hangs:?}, {left:?} left");
            let took = started.elapsed();
            assert!(took < left, "{hangs:?}, {left:?} left: {name} after {took:?}");
        }
    }
}
