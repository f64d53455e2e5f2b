//! A store that fails on demand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lambda_idempotency_key::RecordId;

use super::strays::{Request, Strays};
use crate::{
    ClaimAnswer, ClaimRequest, Clock, CommitAnswer, CompleteAnswer, CompleteRequest, EpochMillis, Reading,
    Record, ReleaseAnswer, ReleaseRequest, RenewAnswer, RenewRequest, Store, StoreError, StoreErrorKind,
    SystemClock, TooLarge, Writes,
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
    /// The call is applied this much later, and then answered. On a clock that its sleeper moves, time has
    /// passed when the answer is there.
    Delay(Duration),
    /// The caller is told at once that its time is up; the request is still on its way and is applied this
    /// much later, before the first call of any verb from then on: after whatever the caller did next, and
    /// perhaps after a successor's claim. Of a transaction nothing arrives: its writes are the caller's.
    Stray(Duration),
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
    clock: Arc<dyn Clock>,
    faults: Mutex<VecDeque<(Verb, Fault)>>,
    calls: Mutex<Vec<Verb>>,
    strays: Strays,
}

impl<S> FaultyStore<S> {
    /// A store that works, until it is broken.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            clock: Arc::new(SystemClock),
            faults: Mutex::default(),
            calls: Mutex::default(),
            strays: Strays::default(),
        }
    }

    /// The clock of [`Fault::Delay`] and [`Fault::Stray`]; the machine's unless set.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Breaks the next call of `verb` that is not broken yet.
    pub fn break_next(&self, verb: Verb, fault: Fault) {
        lock(&self.faults).push_back((verb, fault));
    }

    /// Forgets the faults that have not happened yet. What is on its way still arrives.
    pub fn heal(&self) {
        lock(&self.faults).clear();
    }

    /// Every call so far, broken ones too.
    pub fn calls(&self) -> Vec<Verb> {
        lock(&self.calls).clone()
    }

    /// The store inside.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// How many requests are on their way of which their callers know nothing.
    pub fn strays(&self) -> usize {
        self.strays.len()
    }

    fn fault(&self, verb: Verb) -> Option<Fault> {
        lock(&self.calls).push(verb);
        let mut faults = lock(&self.faults);
        let at = faults.iter().position(|(broken, _)| *broken == verb)?;
        faults.remove(at).map(|(_, fault)| fault)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Carries out one call under its fault; `$request` is what is on its way when it strays.
macro_rules! broken {
    ($self:ident, $verb:ident, $request:expr, $call:expr) => {{
        $self.strays.arrive(&$self.inner, $self.clock.now()).await;
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
            Some(Fault::Delay(by)) => {
                $self.clock.sleep(by).await;
                $call.await
            }
            Some(Fault::Stray(by)) => {
                $self.strays.send($self.clock.now().plus(by), $request);
                error(StoreErrorKind::TimedOut)
            }
        }
    }};
}

#[async_trait::async_trait]
impl<S: Store> Store for FaultyStore<S> {
    async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
        broken!(self, Claim, Some(Request::Claim(request.clone())), self.inner.claim(request))
    }
    async fn complete(&self, request: &CompleteRequest) -> Result<CompleteAnswer, StoreError> {
        broken!(self, Complete, Some(Request::Complete(request.clone())), self.inner.complete(request))
    }
    async fn commit(
        &self,
        request: &CompleteRequest,
        writes: &dyn Writes,
    ) -> Result<CommitAnswer, StoreError> {
        broken!(self, Complete, None, self.inner.commit(request, writes))
    }
    async fn release(&self, request: &ReleaseRequest) -> Result<ReleaseAnswer, StoreError> {
        broken!(self, Release, Some(Request::Release(request.clone())), self.inner.release(request))
    }
    async fn renew(&self, request: &RenewRequest) -> Result<RenewAnswer, StoreError> {
        broken!(self, Renew, Some(Request::Renew(request.clone())), self.inner.renew(request))
    }
    async fn get(&self, id: &RecordId, now: EpochMillis) -> Result<Reading, StoreError> {
        broken!(self, Get, None, self.inner.get(id, now))
    }
    fn location(&self) -> &str {
        self.inner.location()
    }
    fn check_size(&self, record: &Record) -> Result<(), TooLarge> {
        self.inner.check_size(record)
    }
}
