//! The store that lives in this process: for tests, for local runs, and as the shortest example of
//! what a [`Store`] has to do.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lambda_idempotency_key::RecordId;

use crate::decide::{self, Claimant, Completion};
use crate::{
    ClaimAnswer, ClaimRequest, CompleteAnswer, CompleteRequest, EpochMillis, Reading, Record, ReleaseAnswer,
    ReleaseRequest, RenewAnswer, RenewRequest, Replaced, Store, StoreError,
};

/// Records in a map. They are gone with the process, so it protects nothing in a deployed function.
///
/// ```
/// use lambda_idempotency_core::{Engine, Key, MemoryStore};
///
/// let engine = Engine::new("orders.submit", MemoryStore::new(), Key::parse("order_id")?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryStore {
    records: Mutex<HashMap<RecordId, Record>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every record that is there, expired ones too, in no particular order.
    pub fn records(&self) -> Vec<Record> {
        self.lock().values().cloned().collect()
    }

    /// Puts a record there, whatever was in its place: for tests that start from a given state.
    pub fn put(&self, record: Record) {
        self.lock().insert(record.id.clone(), record);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RecordId, Record>> {
        // No code that holds the lock can leave the map half-changed, so a poisoned lock is as good.
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Below this many records nothing is swept.
const SWEEP_FROM: usize = 1024;

#[async_trait::async_trait]
impl Store for MemoryStore {
    async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
        let mut records = self.lock();
        let now = request.now;
        if records.len() >= SWEEP_FROM && records.len() == records.capacity() {
            // What a table's TTL does; just before the map would grow, so that it costs a claim little.
            records.retain(|_, record| !record.is_expired(now));
        }
        let replaced = match records.get(&request.id) {
            None => Replaced::Nothing,
            Some(record) => {
                let claimant = Claimant {
                    owner: &request.owner,
                    validation: request.validation.as_ref(),
                    margin: request.margin,
                };
                match decide::claimable(record, claimant, now) {
                    Some(replaced) => replaced,
                    None => return Ok(ClaimAnswer::Refused { record: record.clone(), now }),
                }
            }
        };
        records.insert(request.id.clone(), request.record());
        Ok(ClaimAnswer::Claimed(replaced))
    }

    async fn complete(&self, request: &CompleteRequest) -> Result<CompleteAnswer, StoreError> {
        let mut records = self.lock();
        let found = records.get(&request.record.id);
        match (decide::may_complete(found, &request.owner, request.now), found) {
            (Completion::Overtaken, Some(record)) => Ok(CompleteAnswer::Overtaken { record: record.clone() }),
            _ => {
                records.insert(request.record.id.clone(), request.record.clone());
                Ok(CompleteAnswer::Recorded)
            }
        }
    }

    async fn release(&self, request: &ReleaseRequest) -> Result<ReleaseAnswer, StoreError> {
        let mut records = self.lock();
        match records.get_mut(&request.id) {
            Some(record) if decide::may_release(Some(record), &request.owner) => {
                if request.leave {
                    *record = decide::left(record);
                } else {
                    records.remove(&request.id);
                }
                Ok(ReleaseAnswer::Released)
            }
            _ => Ok(ReleaseAnswer::NotMine),
        }
    }

    async fn renew(&self, request: &RenewRequest) -> Result<RenewAnswer, StoreError> {
        let mut records = self.lock();
        match records.get_mut(&request.id) {
            Some(record) if decide::may_renew(Some(record), request) => {
                *record = decide::renewed(record, request);
                Ok(RenewAnswer::Renewed)
            }
            _ => Ok(RenewAnswer::Lost),
        }
    }

    async fn get(&self, id: &RecordId, now: EpochMillis) -> Result<Reading, StoreError> {
        let record = self.lock().get(id).filter(|record| !record.is_expired(now)).cloned();
        Ok(Reading { record, now })
    }
}
