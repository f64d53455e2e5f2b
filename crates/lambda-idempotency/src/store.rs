//! Writing a store of your own.
//!
//! A store has five verbs, each one atomic step. What a step may do is decided by the functions of
//! [`decide`](crate::decide); how it is made atomic is the store's affair: here a lock, in DynamoDB a
//! conditional write, in Redis a script, in PostgreSQL a statement. This is a whole one, and the
//! conformance suite that proves it:
//!
//! ```
//! use std::collections::HashMap;
//! use std::sync::{Mutex, PoisonError};
//!
//! use lambda_idempotency::decide::{
//!     Claimant, Completion, claimable, left, may_complete, may_release, may_renew, renewed,
//! };
//! use lambda_idempotency::store::*;
//! use lambda_idempotency::{EpochMillis, RecordId};
//!
//! #[derive(Debug, Default)]
//! struct MyStore(Mutex<HashMap<RecordId, Record>>);
//!
//! impl MyStore {
//!     /// One atomic step on the row of `id`.
//!     fn step<T>(&self, id: &RecordId, step: impl FnOnce(&mut Option<Record>) -> T) -> T {
//!         let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
//!         let mut row = rows.remove(id);
//!         let answer = step(&mut row);
//!         rows.extend(row.map(|row| (id.clone(), row)));
//!         answer
//!     }
//! }
//!
//! #[async_trait::async_trait]
//! impl Store for MyStore {
//!     async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
//!         let ClaimRequest { owner, validation, margin, now, .. } = request;
//!         let claimant = Claimant { owner, validation: validation.as_ref(), margin: *margin };
//!         Ok(self.step(&request.id, |row| {
//!             let replaced = match row {
//!                 None => Replaced::Nothing,
//!                 Some(record) => match claimable(record, claimant, *now) {
//!                     Some(replaced) => replaced,
//!                     None => return ClaimAnswer::Refused { record: record.clone(), now: *now },
//!                 },
//!             };
//!             *row = Some(request.record());
//!             ClaimAnswer::Claimed(replaced)
//!         }))
//!     }
//!
//!     async fn complete(&self, request: &CompleteRequest) -> Result<CompleteAnswer, StoreError> {
//!         Ok(self.step(&request.record.id, |row| {
//!             match (may_complete(row.as_ref(), &request.owner, request.now), &row) {
//!                 (Completion::Overtaken, Some(record)) => CompleteAnswer::Overtaken { record: record.clone() },
//!                 _ => {
//!                     *row = Some(request.record.clone());
//!                     CompleteAnswer::Recorded
//!                 }
//!             }
//!         }))
//!     }
//!
//!     async fn release(&self, request: &ReleaseRequest) -> Result<ReleaseAnswer, StoreError> {
//!         Ok(self.step(&request.id, |row| match may_release(row.as_ref(), &request.owner) {
//!             true => {
//!                 *row = row.take().filter(|_| request.leave).map(|record| left(&record));
//!                 ReleaseAnswer::Released
//!             }
//!             false => ReleaseAnswer::NotMine,
//!         }))
//!     }
//!
//!     async fn renew(&self, request: &RenewRequest) -> Result<RenewAnswer, StoreError> {
//!         Ok(self.step(&request.id, |row| {
//!             let may = may_renew(row.as_ref(), request);
//!             match row {
//!                 Some(record) if may => {
//!                     *record = renewed(record, request);
//!                     RenewAnswer::Renewed
//!                 }
//!                 _ => RenewAnswer::Lost,
//!             }
//!         }))
//!     }
//!
//!     async fn get(&self, id: &RecordId, now: EpochMillis) -> Result<Reading, StoreError> {
//!         let record = self.step(id, |row| row.clone());
//!         Ok(Reading { record: record.filter(|record| !record.is_expired(now)), now })
//!     }
//! }
//!
//! # #[cfg(feature = "testing")]
//! # mod test {
//! # use super::MyStore;
//! use lambda_idempotency::testing::{ManualClock, Subject, conformance};
//! # use lambda_idempotency::{Clock, EpochMillis, Store};
//!
//! struct Mine(MyStore, ManualClock);
//!
//! #[async_trait::async_trait]
//! impl Subject for Mine {
//!     fn store(&self) -> &dyn Store { &self.0 }
//!     fn now(&self) -> EpochMillis { self.1.now() }
//!     async fn advance(&self, by: std::time::Duration) { self.1.advance(by) }
//! }
//!
//! # pub async fn run() {
//! let mine = Mine(MyStore::default(), ManualClock::at(EpochMillis::new(1_900_000_000_000)));
//! conformance::run(&mine).await.assert();
//! # }
//! # }
//! # #[cfg(feature = "testing")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() { test::run().await }
//! # #[cfg(not(feature = "testing"))]
//! # fn main() {}
//! ```

pub use lambda_idempotency_core::{
    ClaimAnswer, ClaimRequest, CommitAnswer, CompleteAnswer, CompleteRequest, Owner, Reading, Record,
    RefusedWrite, ReleaseAnswer, ReleaseRequest, RenewAnswer, RenewRequest, Replaced, Status, Store,
    StoreError, StoreErrorKind, TooLarge, Writes,
};
