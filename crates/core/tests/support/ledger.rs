//! A memory store with transactions: its writes are entries in a ledger.

use std::any::Any;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lambda_idempotency_core::decide::{self, Commit};
use lambda_idempotency_core::{
    ClaimAnswer, ClaimRequest, CommitAnswer, CompleteAnswer, CompleteRequest, EpochMillis, MemoryStore,
    Reading, RecordId, RefusedWrite, ReleaseAnswer, ReleaseRequest, RenewAnswer, RenewRequest, Store,
    StoreError, StoreErrorKind, Writes,
};

#[derive(Debug, Default)]
pub struct Ledger {
    records: MemoryStore,
    entries: Mutex<Vec<String>>,
    stray: Mutex<Stray>,
}

/// A transaction that is on its way when its caller has given it up.
#[derive(Debug, Default)]
enum Stray {
    #[default]
    None,
    /// The next one will be.
    Next,
    Sent(Box<(CompleteRequest, Entry)>),
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
        lock(&self.entries).clone()
    }

    /// Lets the next commit stray until it [arrives](Self::arrive).
    pub fn stray_next(&self) {
        *lock(&self.stray) = Stray::Next;
    }

    /// Applies the commit that strayed; whether there was one.
    pub fn arrive(&self) -> bool {
        let Stray::Sent(sent) = std::mem::take(&mut *lock(&self.stray)) else { return false };
        self.apply(&sent.0, &sent.1);
        true
    }

    fn apply(&self, request: &CompleteRequest, entry: &Entry) -> CommitAnswer {
        let found = self.records.records().into_iter().find(|record| record.id == request.record.id);
        match (decide::may_commit(found.as_ref(), &request.owner, request.now), found) {
            (Commit::Applied, _) => CommitAnswer::Committed,
            (Commit::Overtaken, Some(record)) => CommitAnswer::Overtaken { record },
            (Commit::Overtaken, None) => CommitAnswer::Vanished,
            (Commit::Apply, _) if entry.refused => CommitAnswer::Refused {
                reasons: vec![RefusedWrite { index: 0, code: "ConditionalCheckFailed".to_owned() }],
            },
            (Commit::Apply, _) => {
                self.records.put(request.record.clone());
                lock(&self.entries).push(entry.text.clone());
                CommitAnswer::Committed
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut stray = lock(&self.stray);
        if matches!(*stray, Stray::Next) {
            *stray = Stray::Sent(Box::new((request.clone(), entry.clone())));
            return Err(StoreError::new(StoreErrorKind::TimedOut, "a commit that strays"));
        }
        drop(stray);
        Ok(self.apply(request, entry))
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
