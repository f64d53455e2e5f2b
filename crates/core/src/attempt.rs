//! What a running function can know of the claim it runs under.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lambda_idempotency_key::RecordId;
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::{Clock, EpochMillis, Error, Previous, Writes};

/// The claim that the running function holds.
///
/// The engine hands it to its closure; an annotated function asks for [`Attempt::current`].
#[derive(Clone, Debug)]
pub struct Attempt {
    id: Option<RecordId>,
    takeover: bool,
    lease: Arc<LeaseState>,
    effect: Arc<AtomicBool>,
    refused_inside: Arc<AtomicBool>,
    writes: Arc<Mutex<Pending>>,
    previous: Option<Arc<Previous>>,
    clock: Arc<dyn Clock>,
}

/// Writes that wait for the function's end.
#[derive(Debug, Default)]
enum Pending {
    #[default]
    None,
    Some(Box<dyn Writes>),
    /// The function has ended.
    Taken,
}

/// What renewal changes while the function runs.
#[derive(Debug)]
struct LeaseState {
    end: AtomicI64,
    lost: watch::Sender<bool>,
}

tokio::task_local! {
    static CURRENT: Attempt;
}

impl Attempt {
    pub(crate) fn new(
        id: Option<RecordId>,
        takeover: bool,
        lease_end: EpochMillis,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let lease = LeaseState { end: AtomicI64::new(lease_end.get()), lost: watch::Sender::new(false) };
        Self {
            id,
            takeover,
            lease: Arc::new(lease),
            effect: Arc::default(),
            refused_inside: Arc::default(),
            writes: Arc::default(),
            previous: None,
            clock,
        }
    }

    pub(crate) fn continuing(mut self, previous: Option<Previous>) -> Self {
        self.previous = previous.map(Arc::new);
        self
    }

    /// The attempt that this task runs under; `None` outside of a guarded function.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }

    pub(crate) async fn scope<F: Future>(self, future: F) -> F::Output {
        CURRENT.scope(self, future).await
    }

    /// The record that this attempt holds; `None` when it runs unprotected.
    pub fn record_id(&self) -> Option<&RecordId> {
        self.id.as_ref()
    }

    /// Whether an earlier attempt at this work was abandoned, so that part of it may have been done:
    /// look for it before creating it anew. Also `true` where that cannot be told, because the
    /// store's answer to a claim was lost. A takeover that fails leaves the record to the next attempt, which is a
    /// takeover again, until one of them succeeds or the record expires.
    pub fn is_takeover(&self) -> bool {
        self.takeover
    }

    /// What is recorded of the work that this one continues; `None` where the input names none (`previous` of
    /// the engine or of `#[idempotent]`), its record is not there any more, or this attempt runs unprotected.
    pub fn previous(&self) -> Option<&Previous> {
        self.previous.as_deref()
    }

    /// Says that something is done from here on that cannot be taken back. When the function fails or
    /// panics after it, its claim is kept until the lease has passed instead of released, so that no
    /// retry follows at once.
    pub fn effect_started(&self) {
        self.effect.store(true, Ordering::SeqCst);
    }

    pub(crate) fn has_effect(&self) -> bool {
        self.effect.load(Ordering::SeqCst)
    }

    /// A guarded call inside this one was refused for now.
    pub(crate) fn note_refusal_inside(&self) {
        self.refused_inside.store(true, Ordering::SeqCst);
    }

    pub(crate) fn was_refused_inside(&self) -> bool {
        self.refused_inside.load(Ordering::SeqCst)
    }

    /// Has these writes applied together with the result, when the function returns `Ok`: both or
    /// neither, so that the recorded answer and the business state cannot disagree. When the function
    /// fails, when another attempt took over, or when one of their own conditions does not hold
    /// ([`Error::TransactionRefused`]), nothing is written.
    ///
    /// The type of the writes is the store's (`dynamodb::Writes`).
    ///
    /// # Errors
    /// [`Error::Config`] when this attempt has writes already (put them into one), has ended, or runs
    /// unprotected: there is no record, so write them yourself.
    pub fn commit_with(&self, writes: impl Writes) -> Result<(), Error> {
        let refuse = |message: &str| Err(Error::Config { message: message.to_owned() });
        if self.id.is_none() {
            return refuse("`commit_with` in an unprotected attempt: there is no record to commit with");
        }
        let mut pending = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        match *pending {
            Pending::None => *pending = Pending::Some(Box::new(writes)),
            Pending::Some(_) => {
                return refuse("`commit_with` was called twice in one attempt: put all writes into one call");
            }
            Pending::Taken => return refuse("`commit_with` was called after its attempt had ended"),
        }
        Ok(())
    }

    pub(crate) fn take_writes(&self) -> Option<Box<dyn Writes>> {
        let mut pending = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *pending, Pending::Taken) {
            Pending::Some(writes) => Some(writes),
            Pending::None | Pending::Taken => None,
        }
    }

    /// When this attempt's lease ends. Work that goes on after it can be done twice.
    pub fn lease_end(&self) -> EpochMillis {
        EpochMillis::new(self.lease.end.load(Ordering::SeqCst))
    }

    /// Whether it is known that another attempt has the record, or can have it: renewal was refused,
    /// or failed until the lease had passed. What is done from now on may be done twice. Only a
    /// [renewed](crate::Lease::Renewed) lease is watched.
    pub fn is_lost(&self) -> bool {
        *self.lease.lost.borrow()
    }

    /// Returns when the lease [is lost](Attempt::is_lost), for a `select!` beside the work; never
    /// otherwise.
    pub async fn lost(&self) {
        let mut lost = self.lease.lost.subscribe();
        if lost.wait_for(|lost| *lost).await.is_err() {
            // Cannot be: the sender lives in `self`.
            std::future::pending::<()>().await;
        }
    }

    pub(crate) fn renewed_until(&self, lease_end: EpochMillis) {
        self.lease.end.fetch_max(lease_end.get(), Ordering::SeqCst);
    }

    pub(crate) fn set_lost(&self) {
        self.lease.lost.send_replace(true);
    }

    /// The time until the lease ends, zero when it has: the most that a call to somebody else may
    /// take.
    pub fn time_left(&self) -> Duration {
        self.clock.now().until(self.lease_end())
    }

    /// A stable id for one step of this work: equal in every retry and takeover, other for another
    /// `step` or key, and it does not contain the key. For a downstream service that deduplicates
    /// by a token of the caller's (a payment API's idempotency key, a Step Functions execution
    /// name, a client token). 64 characters of `[0-9a-f]`.
    ///
    /// `None` when the attempt runs unprotected: there is no key to derive it from.
    pub fn token(&self, step: &str) -> Option<String> {
        let id = self.id.as_ref()?;
        let mut hash = Sha256::new();
        for part in ["lambda-idempotency/token/1", id.as_str(), step] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
