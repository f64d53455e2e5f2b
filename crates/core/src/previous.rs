//! The record of the work that this work continues.

use lambda_idempotency_key::RecordId;
use serde::de::DeserializeOwned;

use crate::engine::from_text;
use crate::{EpochMillis, JsonFault, Redacted, Status};

/// What is recorded of an earlier piece of work, under another key of the same function: a continuation finds
/// there what it goes on from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Previous {
    /// Its record.
    pub id: RecordId,
    /// Where its work stands.
    pub status: Status,
    /// When its result was recorded; `None` while it is in progress.
    pub stored_at: Option<EpochMillis>,
    /// Its result, or its stored failure, as JSON. None while it is in progress, and where the record does not
    /// hold it. `Debug` does not show it.
    pub json: Redacted,
}

impl Previous {
    /// Its result; `None` when it did not succeed, or is not stored.
    ///
    /// # Errors
    /// When the stored text does not fit `T`.
    pub fn result<T: DeserializeOwned>(&self) -> Result<Option<T>, JsonFault> {
        self.decode(Status::Completed)
    }

    /// Its stored failure; `None` when it did not fail.
    ///
    /// # Errors
    /// When the stored text does not fit `E`.
    pub fn failure<E: DeserializeOwned>(&self) -> Result<Option<E>, JsonFault> {
        self.decode(Status::Failed)
    }

    fn decode<T: DeserializeOwned>(&self, status: Status) -> Result<Option<T>, JsonFault> {
        self.json.expose().filter(|_| self.status == status).map(from_text).transpose()
    }
}
