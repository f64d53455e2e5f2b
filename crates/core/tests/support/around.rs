//! A memory store of which a test changes single verbs.

use std::fmt;

use lambda_idempotency_core::{
    ClaimAnswer, ClaimRequest, CompleteAnswer, CompleteRequest, EpochMillis, MemoryStore, Reading, Record,
    RecordId, ReleaseAnswer, ReleaseRequest, RenewAnswer, RenewRequest, Store, StoreError, TooLarge,
};

/// What lies around a memory store: each verb goes through, unless it is written here.
#[async_trait::async_trait]
pub trait Around: fmt::Debug + Send + Sync {
    fn inner(&self) -> &MemoryStore;

    async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
        self.inner().claim(request).await
    }
    async fn complete(&self, request: &CompleteRequest) -> Result<CompleteAnswer, StoreError> {
        self.inner().complete(request).await
    }
    async fn release(&self, request: &ReleaseRequest) -> Result<ReleaseAnswer, StoreError> {
        self.inner().release(request).await
    }
    async fn renew(&self, request: &RenewRequest) -> Result<RenewAnswer, StoreError> {
        self.inner().renew(request).await
    }
    async fn get(&self, id: &RecordId, now: EpochMillis) -> Result<Reading, StoreError> {
        self.inner().get(id, now).await
    }
    fn check_size(&self, record: &Record) -> Result<(), TooLarge> {
        self.inner().check_size(record)
    }
}

/// The store.
#[derive(Debug, Default)]
pub struct Wrapped<T>(pub T);

#[async_trait::async_trait]
impl<T: Around> Store for Wrapped<T> {
    async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
        self.0.claim(request).await
    }
    async fn complete(&self, request: &CompleteRequest) -> Result<CompleteAnswer, StoreError> {
        self.0.complete(request).await
    }
    async fn release(&self, request: &ReleaseRequest) -> Result<ReleaseAnswer, StoreError> {
        self.0.release(request).await
    }
    async fn renew(&self, request: &RenewRequest) -> Result<RenewAnswer, StoreError> {
        self.0.renew(request).await
    }
    async fn get(&self, id: &RecordId, now: EpochMillis) -> Result<Reading, StoreError> {
        self.0.get(id, now).await
    }
    fn check_size(&self, record: &Record) -> Result<(), TooLarge> {
        self.0.check_size(record)
    }
}
