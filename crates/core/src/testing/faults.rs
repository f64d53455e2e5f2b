//! A store that fails on demand.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use lambda_idempotency_key::RecordId;

use crate::{
    ClaimAnswer, ClaimRequest, CommitAnswer, CompleteAnswer, CompleteRequest, EpochMillis, Reading, Record,
    ReleaseAnswer, ReleaseRequest, RenewAnswer, RenewRequest, Store, StoreError, StoreErrorKind, TooLarge,
    Writes,
};

/// A verb of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verb {
    /// [`Store::claim`].
    Claim,
    /// [`Store::complete`] and [`Store::commit`].
    Complete,
    /// [`Store::release`].
    Release,
    /// [`Store::renew`].
    Renew,
    /// [`Store::get`].
    Get,
}

/// What goes wrong at one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The call fails before anything is applied; a retry can help.
    ErrorBefore,
    /// The call is applied, and its reply is lost.
    ReplyLost,
    /// The call is applied twice, as by a client that resends a request whose reply it did not see;
    /// the second reply is the one that arrives.
    Duplicate,
    /// The store asks to slow down; nothing is applied.
    Throttle,
    /// The right to do this is missing; nothing is applied and no retry helps.
    Deny,
}

/// Wraps a store and breaks its calls, each fault once, in the order in which they were asked for.
///
/// ```
/// use lambda_idempotency_core::MemoryStore;
/// use lambda_idempotency_core::testing::{Fault, FaultyStore, Verb};
///
/// let store = FaultyStore::new(MemoryStore::new());
/// store.break_next(Verb::Complete, Fault::ReplyLost);
/// ```
#[derive(Debug)]
pub struct FaultyStore<S> {
    inner: S,
    faults: Mutex<VecDeque<(Verb, Fault)>>,
    calls: Mutex<Vec<Verb>>,
}

impl<S> FaultyStore<S> {
    /// A store that works, until it is broken.
    pub fn new(inner: S) -> Self {
        Self { inner, faults: Mutex::default(), calls: Mutex::default() }
    }

    /// Breaks the next call of `verb` that is not broken yet.
    pub fn break_next(&self, verb: Verb, fault: Fault) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).push_back((verb, fault));
    }

    /// Forgets the faults that have not happened yet.
    pub fn heal(&self) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Every call so far, broken ones too.
    pub fn calls(&self) -> Vec<Verb> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The store inside.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    fn fault(&self, verb: Verb) -> Option<Fault> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(verb);
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        let at = faults.iter().position(|(broken, _)| *broken == verb)?;
        faults.remove(at).map(|(_, fault)| fault)
    }
}

/// Carries out one call under its fault.
macro_rules! broken {
    ($self:ident, $verb:ident, $call:expr) => {{
        let error = |kind| Err(StoreError::new(kind, concat!(stringify!($verb), " of a faulty store")));
        match $self.fault(Verb::$verb) {
            None => $call.await,
            Some(Fault::ErrorBefore) => error(StoreErrorKind::Unreachable),
            Some(Fault::Throttle) => error(StoreErrorKind::Throttled),
            Some(Fault::Deny) => error(StoreErrorKind::AccessDenied),
            Some(Fault::ReplyLost) => {
                $call.await?;
                error(StoreErrorKind::TimedOut)
            }
            Some(Fault::Duplicate) => {
                $call.await?;
                $call.await
            }
        }
    }};
}

#[async_trait::async_trait]
impl<S: Store> Store for FaultyStore<S> {
    async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
        broken!(self, Claim, self.inner.claim(request))
    }
    async fn complete(&self, request: &CompleteRequest) -> Result<CompleteAnswer, StoreError> {
        broken!(self, Complete, self.inner.complete(request))
    }
    async fn commit(
        &self,
        request: &CompleteRequest,
        writes: &dyn Writes,
    ) -> Result<CommitAnswer, StoreError> {
        broken!(self, Complete, self.inner.commit(request, writes))
    }
    async fn release(&self, request: &ReleaseRequest) -> Result<ReleaseAnswer, StoreError> {
        broken!(self, Release, self.inner.release(request))
    }
    async fn renew(&self, request: &RenewRequest) -> Result<RenewAnswer, StoreError> {
        broken!(self, Renew, self.inner.renew(request))
    }
    async fn get(&self, id: &RecordId, now: EpochMillis) -> Result<Reading, StoreError> {
        broken!(self, Get, self.inner.get(id, now))
    }
    fn location(&self) -> &str {
        self.inner.location()
    }
    fn check_size(&self, record: &Record) -> Result<(), TooLarge> {
        self.inner.check_size(record)
    }
}
