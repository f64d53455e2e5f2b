//! A place for results that are too large for the store.

use std::fmt;

use lambda_idempotency_key::RecordId;

use crate::{EpochSeconds, Owner, StoreError};

/// Keeps results outside of the store; the record then holds where. An object store, a file system.
///
/// The object is written before the record, so that no record points to nothing; an attempt that dies in
/// between, or is overtaken, leaves an object that no record names. Let the place delete what is older than
/// the longest `expires_after`.
///
/// What is kept is what the store would have held: compressed and encrypted as the policy says.
#[async_trait::async_trait]
pub trait Offload: fmt::Debug + Send + Sync {
    /// Names the place in the record's `encoding`: letters, digits and hyphens. Readers find it by this.
    fn name(&self) -> &str;

    /// Keeps `object` and says where, as [`Offload::get`] will be asked for it. A second put of the same
    /// object is the same put.
    ///
    /// # Errors
    /// Whatever kept the place from taking it; the result is then left out of the record.
    async fn put(&self, object: Object<'_>) -> Result<String, StoreError>;

    /// What was kept at `reference`; `None` when it is not there any more.
    ///
    /// # Errors
    /// Whatever kept the place from answering.
    async fn get(&self, reference: &str) -> Result<Option<Vec<u8>>, StoreError>;
}

/// A result on its way out of the store.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Object<'a> {
    /// The record that it belongs to.
    pub id: &'a RecordId,
    /// The attempt that made it. Each attempt's object is one of its own, so that an overtaken one writes
    /// over nobody's.
    pub owner: &'a Owner,
    /// When its record stops counting.
    pub expiration: EpochSeconds,
    /// The result's JSON text, or what compression and encryption made of it.
    pub bytes: &'a [u8],
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({}, <{} bytes>)", self.id, self.bytes.len())
    }
}
