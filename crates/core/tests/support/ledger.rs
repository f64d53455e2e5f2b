//! A memory store with transactions: its writes are entries in a ledger.

use std::any::Any;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use lambda_idempotency_core::decide::{self, Commit};
use lambda_idempotency_core::{
    ClaimAnswer, ClaimRequest, CommitAnswer, CompleteAnswer, CompleteRequest, EpochMillis, MemoryStore,
    Reading, RecordId, RefusedWrite, ReleaseAnswer, ReleaseRequest, RenewAnswer, RenewRequest, Store,
    StoreError, Writes,
};

#[derive(Debug, Default)]
pub struct Ledger {
    records: MemoryStore,
    entries: Mutex<Vec<String>>,
}

/// What a function has written together with its result.
#[derive(Clone, Debug)]
pub struct Entry {
    pub text: String,
    /// Whether the write's own condition fails.
    pub refused: bool,
}

impl Entry {
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), refused: false }
    }
}

impl Writes for Entry {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Ledger {
    pub fn entries(&self) -> Vec<String> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Deref for Ledger {
    type Target = MemoryStore;

    fn deref(&self) -> &MemoryStore {
        &self.records
    }
}

#[async_trait::async_trait]
impl Store for Ledger {
    async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
        self.records.claim(request).await
    }
    async fn complete(&self, request: &CompleteRequest) -> Result<CompleteAnswer, StoreError> {
        self.records.complete(request).await
    }
    /// Awaits nothing, so that no other task of a test comes between.
    async fn commit(
        &self,
        request: &CompleteRequest,
        writes: &dyn Writes,
    ) -> Result<CommitAnswer, StoreError> {
        let Some(entry) = writes.as_any().downcast_ref::<Entry>() else {
            // As a store without transactions.
            return self.records.commit(request, writes).await;
        };
        let found = self.records.records().into_iter().find(|record| record.id == request.record.id);
        match (decide::may_commit(found.as_ref(), &request.owner, request.now), found) {
            (Commit::Applied, _) => Ok(CommitAnswer::Committed),
            (Commit::Overtaken, Some(record)) => Ok(CommitAnswer::Overtaken { record }),
            (Commit::Overtaken, None) => Ok(CommitAnswer::Vanished),
            (Commit::Apply, _) if entry.refused => Ok(CommitAnswer::Refused {
                reasons: vec![RefusedWrite { index: 0, code: "ConditionalCheckFailed".to_owned() }],
            }),
            (Commit::Apply, _) => {
                self.records.put(request.record.clone());
                self.entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry.text.clone());
                Ok(CommitAnswer::Committed)
            }
        }
    }
    async fn release(&self, request: &ReleaseRequest) -> Result<ReleaseAnswer, StoreError> {
        self.records.release(request).await
    }
    async fn renew(&self, request: &RenewRequest) -> Result<RenewAnswer, StoreError> {
        self.records.renew(request).await
    }
    async fn get(&self, id: &RecordId, now: EpochMillis) -> Result<Reading, StoreError> {
        self.records.get(id, now).await
    }
}
