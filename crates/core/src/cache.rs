//! Answers that this process has seen already, without asking the store again.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lambda_idempotency_key::RecordId;
use lru::LruCache;

use crate::{
    ClaimAnswer, ClaimRequest, CommitAnswer, CompleteAnswer, CompleteRequest, EpochMillis, Reading, Record,
    ReleaseAnswer, ReleaseRequest, RenewAnswer, RenewRequest, Store, StoreError, TooLarge, Writes,
};

/// A store whose final records are remembered in this process: a duplicate that comes back to the same
/// execution environment is answered without a store call.
///
/// Only final records are kept, as their stored text, and each is judged anew at every hit: expiration,
/// content, encryption. What it costs: a record that is deleted or changed in the store, by hand or by
/// another process, goes on being answered here for [`max_age`](Cached::max_age), unless it is
/// [invalidated](Cached::invalidate). There is no cache unless a store is wrapped.
///
/// ```
/// use lambda_idempotency_core::{Cached, Engine, Key, MemoryStore};
/// use std::time::Duration;
///
/// let store = Cached::new(MemoryStore::new()).max_age(Duration::from_secs(60));
/// let engine = Engine::new("orders.submit", store, Key::parse("order_id")?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Cached<S> {
    inner: S,
    entries: Mutex<Entries>,
    most_entries: usize,
    most_bytes: usize,
    max_age: Duration,
}

struct Entries {
    by_id: LruCache<RecordId, Entry>,
    bytes: usize,
    /// Counted up when something is invalidated: an answer that was on its way by then is not kept.
    era: u64,
}

struct Entry {
    record: Record,
    bytes: usize,
    /// Two clocks: one may jump, the other may stand still while the environment is frozen.
    since: Instant,
    since_wall: EpochMillis,
}

impl<S> Cached<S> {
    /// The most records, unless set.
    pub const DEFAULT_ENTRIES: usize = 1_000;
    /// The most bytes of results, unless set: 8 MiB, a small part of the least memory that a function has
    /// (128 MB).
    pub const DEFAULT_BYTES: usize = 8 * 1024 * 1024;
    /// How long a record is answered from memory, unless set.
    pub const DEFAULT_MAX_AGE: Duration = Duration::from_secs(5 * 60);

    /// Remembers the final records of `inner`.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            entries: Mutex::new(Entries { by_id: LruCache::unbounded(), bytes: 0, era: 0 }),
            most_entries: Self::DEFAULT_ENTRIES,
            most_bytes: Self::DEFAULT_BYTES,
            max_age: Self::DEFAULT_MAX_AGE,
        }
    }

    /// The most records that are kept; those not asked for longest go first. 0 keeps none.
    #[must_use]
    pub fn entries(mut self, most: usize) -> Self {
        self.most_entries = most;
        self
    }

    /// The most bytes that the kept records take, as their stored text. 0 keeps none.
    #[must_use]
    pub fn bytes(mut self, most: usize) -> Self {
        self.most_bytes = most;
        self
    }

    /// How long a record is answered from memory: what a deletion in the store takes to be noticed here.
    #[must_use]
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.max_age = max_age;
        self
    }

    /// Forgets one record here, not in the store: for somebody who has deleted or mended it there.
    pub fn invalidate(&self, id: &RecordId) {
        let mut entries = self.lock();
        entries.era += 1;
        entries.remove(id);
    }

    /// Forgets all.
    pub fn clear(&self) {
        let mut entries = self.lock();
        entries.era += 1;
        entries.by_id.clear();
        entries.bytes = 0;
    }

    /// The store inside.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        // No code that holds the lock can leave the entries half-changed, so a poisoned lock is as good.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: &RecordId, now: EpochMillis) -> Option<Record> {
        let mut entries = self.lock();
        let entry = entries.by_id.get(id)?;
        let age = entry.since_wall.until(now).max(entry.since.elapsed());
        // A wall clock that went back says nothing about the age.
        if age > self.max_age || now < entry.since_wall || entry.record.is_expired(now) {
            entries.remove(id);
            return None;
        }
        Some(entry.record.clone())
    }

    fn era(&self) -> u64 {
        self.lock().era
    }

    /// Remembers the answer to a question that was asked in `era`.
    fn keep(&self, record: &Record, now: EpochMillis, era: u64) {
        let mut entries = self.lock();
        entries.remove(&record.id);
        if entries.era != era {
            return;
        }
        let bytes = size(record);
        if !record.status.is_final() || bytes > self.most_bytes || self.most_entries == 0 {
            return;
        }
        let entry = Entry { record: record.clone(), bytes, since: Instant::now(), since_wall: now };
        entries.bytes += bytes;
        entries.by_id.put(record.id.clone(), entry);
        while entries.by_id.len() > self.most_entries || entries.bytes > self.most_bytes {
            let Some((_, oldest)) = entries.by_id.pop_lru() else { return };
            entries.bytes -= oldest.bytes;
        }
    }
}

impl Entries {
    fn remove(&mut self, id: &RecordId) {
        if let Some(entry) = self.by_id.pop(id) {
            self.bytes -= entry.bytes;
        }
    }
}

/// What a record takes: its texts; the id is there twice.
fn size(record: &Record) -> usize {
    let texts = [&record.data, &record.encoding, &record.validation];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    size_of::<Entry>() + 2 * record.id.as_str().len() + texts
}

#[async_trait::async_trait]
impl<S: Store> Store for Cached<S> {
    async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
        let now = request.now;
        if let Some(record) = self.find(&request.id, now) {
            return Ok(ClaimAnswer::Remembered { record, now });
        }
        let era = self.era();
        let answer = self.inner.claim(request).await?;
        if let ClaimAnswer::Refused { record, .. } = &answer {
            // By this process's clock, by which it is looked for.
            self.keep(record, now, era);
        }
        Ok(answer)
    }

    async fn complete(&self, request: &CompleteRequest) -> Result<CompleteAnswer, StoreError> {
        let era = self.era();
        let answer = self.inner.complete(request).await?;
        match &answer {
            CompleteAnswer::Recorded => self.keep(&request.record, request.now, era),
            CompleteAnswer::Overtaken { record } => self.keep(record, request.now, era),
            CompleteAnswer::Vanished => {}
        }
        Ok(answer)
    }

    async fn commit(
        &self,
        request: &CompleteRequest,
        writes: &dyn Writes,
    ) -> Result<CommitAnswer, StoreError> {
        let era = self.era();
        let answer = self.inner.commit(request, writes).await?;
        match &answer {
            CommitAnswer::Committed => self.keep(&request.record, request.now, era),
            CommitAnswer::Overtaken { record } => self.keep(record, request.now, era),
            CommitAnswer::Vanished | CommitAnswer::Refused { .. } => {}
        }
        Ok(answer)
    }

    async fn release(&self, request: &ReleaseRequest) -> Result<ReleaseAnswer, StoreError> {
        self.inner.release(request).await
    }

    async fn renew(&self, request: &RenewRequest) -> Result<RenewAnswer, StoreError> {
        self.inner.renew(request).await
    }

    async fn get(&self, id: &RecordId, now: EpochMillis) -> Result<Reading, StoreError> {
        // Whoever reads wants to know what is there.
        let era = self.era();
        let reading = self.inner.get(id, now).await?;
        match &reading.record {
            Some(record) => self.keep(record, now, era),
            None => self.lock().remove(id),
        }
        Ok(reading)
    }

    fn location(&self) -> &str {
        self.inner.location()
    }

    fn check_size(&self, record: &Record) -> Result<(), TooLarge> {
        self.inner.check_size(record)
    }
}

// As the store inside: errors name it.
impl<S: fmt::Debug> fmt::Debug for Cached<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
