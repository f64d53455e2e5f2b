//! The conformance suite on the memory store, and on stores that are wrong on purpose.

mod support;

use std::time::Duration;

use lambda_idempotency_core::testing::{ManualClock, Subject, conformance, histories};
use lambda_idempotency_core::{
    ClaimAnswer, ClaimRequest, Clock, CompleteAnswer, CompleteRequest, EpochMillis, MemoryStore,
    ReleaseAnswer, ReleaseRequest, Store, StoreError,
};
use support::{Around, Wrapped};

struct Bed<S> {
    store: S,
    clock: ManualClock,
}

impl<S> Bed<S> {
    fn new(store: S) -> Self {
        Self { store, clock: ManualClock::at(EpochMillis::new(1_900_000_000_700)) }
    }
}

#[async_trait::async_trait]
impl<S: Store> Subject for Bed<S> {
    fn store(&self) -> &dyn Store {
        &self.store
    }
    fn now(&self) -> EpochMillis {
        self.clock.now()
    }
    async fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}

#[tokio::test]
async fn the_memory_store_conforms() {
    let report = conformance::run(&Bed::new(MemoryStore::new())).await;
    report.assert();
    assert!(report.total() >= 50, "only {} cases were run", report.total());
}

#[tokio::test]
async fn random_histories_agree_with_themselves() {
    for seed in 0..50 {
        if let Err(difference) = histories::play(&Bed::new(MemoryStore::new()), seed, 200).await {
            panic!("{difference}");
        }
    }
}

/// The shape of the four Powertools utilities: nobody knows who holds a record, so that the
/// completion and the delete are unconditional.
#[derive(Debug, Default)]
struct NoOwner(MemoryStore);

#[async_trait::async_trait]
impl Around for NoOwner {
    fn inner(&self) -> &MemoryStore {
        &self.0
    }
    async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
        let answer = self.0.claim(request).await?;
        Ok(match answer {
            ClaimAnswer::Refused { mut record, now } => {
                record.owner = None;
                ClaimAnswer::Refused { record, now }
            }
            other => other,
        })
    }
    async fn complete(&self, request: &CompleteRequest) -> Result<CompleteAnswer, StoreError> {
        self.0.put(request.record.clone());
        Ok(CompleteAnswer::Recorded)
    }
    async fn release(&self, request: &ReleaseRequest) -> Result<ReleaseAnswer, StoreError> {
        // Whoever holds it.
        let found = self.0.records().into_iter().find(|record| record.id == request.id);
        if let Some(mut record) = found {
            record.expiration = lambda_idempotency_core::EpochSeconds::new(0);
            self.0.put(record);
        }
        Ok(ReleaseAnswer::Released)
    }
}

#[tokio::test]
async fn a_store_without_owners_fails_in_many_cases() {
    let report = conformance::run(&Bed::new(Wrapped(NoOwner::default()))).await;
    let failed: Vec<_> = report.failed.iter().map(|(case, _)| *case).collect();
    for case in [
        "ones_own_claim_is_recognised",
        "an_overtaken_holder_is_refused_while_the_successor_works",
        "an_overtaken_holder_is_shown_the_successors_result",
        "somebody_elses_claim_is_not_released",
        "a_successors_claim_is_not_released",
        "ones_own_result_is_not_released",
    ] {
        assert!(failed.contains(&case), "{case} was passed; failed: {failed:?}");
    }
}

#[tokio::test]
async fn a_store_without_owners_diverges_in_random_histories() {
    let mut diverged = 0;
    for seed in 0..20 {
        diverged +=
            usize::from(histories::play(&Bed::new(Wrapped(NoOwner::default())), seed, 200).await.is_err());
    }
    assert_eq!(diverged, 20);
}

/// Reads first and writes later.
#[derive(Debug, Default)]
struct LookFirst(MemoryStore);

#[async_trait::async_trait]
impl Around for LookFirst {
    fn inner(&self) -> &MemoryStore {
        &self.0
    }
    async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
        let before = MemoryStore::new();
        for record in self.0.records() {
            before.put(record);
        }
        let answer = before.claim(request).await?;
        tokio::task::yield_now().await;
        if matches!(answer, ClaimAnswer::Claimed(_)) {
            self.0.put(request.record());
        }
        Ok(answer)
    }
}

#[tokio::test]
async fn a_store_that_looks_first_fails_the_races() {
    let report = conformance::run(&Bed::new(Wrapped(LookFirst::default()))).await;
    let failed: Vec<_> = report.failed.iter().map(|(case, _)| *case).collect();
    for case in
        ["one_of_many_claims_wins", "one_of_many_takeovers_wins", "one_of_many_wins_an_expired_record"]
    {
        assert!(failed.contains(&case), "{case} was passed; failed: {failed:?}");
    }
}
