//! Everything about a guarded function but its key, its fingerprint and its store.

use std::time::Duration;

use lambda_idempotency_key::Powertools;

/// How long a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lease {
    /// Until the invocation's own deadline; 15 minutes where none is known.
    Deadline,
    /// Until the deadline and this much longer: for work that goes on elsewhere after a timeout.
    DeadlinePlus(Duration),
    /// This long from the claim, whatever the deadline.
    Fixed(Duration),
    /// This long, and again and again while the function runs: for workers outside of Lambda, whose
    /// runs have no deadline. A crash is then a short delay however long the work is. See
    /// [`Lease::renewed`].
    Renewed {
        /// How long the claim holds after each renewal.
        lease: Duration,
        /// How often it is renewed; a few times per `lease`, so that one failed call loses nothing.
        every: Duration,
    },
}

impl Lease {
    /// A lease of 60 seconds that is renewed every 20.
    ///
    /// Renewal happens inside the guarded call, never in a task of its own: a process that is frozen
    /// or killed renews nothing. The function can ask [`Attempt::is_lost`](crate::Attempt::is_lost).
    pub const fn renewed() -> Self {
        Self::Renewed { lease: Duration::from_secs(60), every: Duration::from_secs(20) }
    }
}

/// What happens to an event in which the key is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingKey {
    /// [`Error::MissingKey`](crate::Error::MissingKey), before any effect and without a store call.
    Refuse,
    /// The function runs unprotected, with a warning and without a store call.
    RunUnprotected,
}

/// What happens to an event whose work is in progress in another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InProgress {
    /// [`Error::AlreadyInProgress`](crate::Error::AlreadyInProgress): whoever delivers it comes back later.
    Refuse,
    /// Wait this long for the other attempt's answer, or for its record if it gives up; never up to
    /// the own deadline. After that as [`InProgress::Refuse`].
    Wait(Duration),
    /// Succeed without an answer, as [`Outcome::Skipped`](crate::Outcome::Skipped): for a tick of a
    /// schedule that finds the last one still at work.
    Skip,
}

/// What happens to the claim when the function fails or panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnError {
    /// The key is given back: the next attempt is a real one.
    Release,
    /// The claim is kept until its lease has passed.
    Keep,
    /// The failure is the answer: it is recorded, and replays as the same error. Needs a function whose
    /// failures can be stored ([`Typed::store_failures`](crate::Typed::store_failures)); elsewhere the
    /// claim is kept.
    Store,
}

/// What of a result is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResultMode {
    /// All of it, as JSON text that any reader understands (under [`Policy::powertools`] as that reads it).
    Full,
    /// All of it, compressed where that makes it smaller: for results near the store's limit (400 KB
    /// in DynamoDB). Readers of this library read both, whatever their own mode.
    Compressed,
    /// Only that the work is done: a replay is [`Error::ResultNotStored`](crate::Error::ResultNotStored).
    /// For results that must not rest in the store.
    MarkerOnly,
}

/// How a function is guarded. Plain data: one policy can serve any number of functions.
///
/// ```
/// use lambda_idempotency_core::{Lease, Policy};
/// use std::time::Duration;
///
/// let policy = Policy::new()
///     .expires_after(Duration::from_secs(7 * 24 * 3600))
///     .lease(Lease::DeadlinePlus(Duration::from_secs(30)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub(crate) expires_after: Option<Duration>,
    pub(crate) lease: Lease,
    pub(crate) at_most_once: bool,
    pub(crate) margin: Duration,
    pub(crate) missing_key: MissingKey,
    pub(crate) in_progress: InProgress,
    pub(crate) on_error: Option<OnError>,
    pub(crate) fail_open: bool,
    pub(crate) result_mode: ResultMode,
    pub(crate) offload_over: Option<usize>,
    pub(crate) store_timeout: Duration,
    pub(crate) powertools: Option<Powertools>,
}

impl Default for Policy {
    fn default() -> Self {
        Self::new()
    }
}

impl Policy {
    /// Life of a completed record where neither the policy nor the event source says: one day.
    pub const DEFAULT_EXPIRES_AFTER: Duration = Duration::from_secs(24 * 3600);
    /// Clocks may differ by a second either way.
    pub const DEFAULT_MARGIN: Duration = Duration::from_secs(2);
    /// What one store verb may take, its client's own retries included.
    pub const DEFAULT_STORE_TIMEOUT: Duration = Duration::from_secs(5);

    /// The defaults: lease until the deadline, margin 2 s, a missing key refused, a failure
    /// released, an unreachable store refused, 5 s for a store call.
    pub const fn new() -> Self {
        Self {
            expires_after: None,
            lease: Lease::Deadline,
            at_most_once: false,
            margin: Self::DEFAULT_MARGIN,
            missing_key: MissingKey::Refuse,
            in_progress: InProgress::Refuse,
            on_error: None,
            fail_open: false,
            result_mode: ResultMode::Full,
            offload_over: None,
            store_timeout: Self::DEFAULT_STORE_TIMEOUT,
            powertools: None,
        }
    }

    /// Life of a completed record, counted from its completion. Must outlast the latest moment at
    /// which the event source can deliver the same work again; too long is merely storage.
    #[must_use]
    pub const fn expires_after(mut self, expires_after: Duration) -> Self {
        self.expires_after = Some(expires_after);
        self
    }

    /// How long a claim holds.
    #[must_use]
    pub const fn lease(mut self, lease: Lease) -> Self {
        self.lease = lease;
        self
    }

    /// Rather lose the work than do it twice: an abandoned claim is never taken over but answered
    /// with [`Error::Interrupted`](crate::Error::Interrupted) until it expires or an operator
    /// resolves it. A failure keeps the claim unless [`Policy::on_error`] says otherwise.
    #[must_use]
    pub const fn at_most_once(mut self) -> Self {
        self.at_most_once = true;
        self
    }

    /// How long after its lease end an unfinished claim is left alone. Twice the most that two
    /// workers' clocks may differ.
    #[must_use]
    pub const fn margin(mut self, margin: Duration) -> Self {
        self.margin = margin;
        self
    }

    /// What happens to an event without the key.
    #[must_use]
    pub const fn missing_key(mut self, missing_key: MissingKey) -> Self {
        self.missing_key = missing_key;
        self
    }

    /// What happens to an event whose work is in progress in another attempt.
    #[must_use]
    pub const fn in_progress(mut self, in_progress: InProgress) -> Self {
        self.in_progress = in_progress;
        self
    }

    /// What happens to the claim when the function fails or panics.
    #[must_use]
    pub const fn on_error(mut self, on_error: OnError) -> Self {
        self.on_error = Some(on_error);
        self
    }

    /// Run unprotected, with a warning, when the store cannot be reached at the claim: a retryable error,
    /// not a missing right or table. Each delivery then runs; a result is still recorded if the store takes
    /// it afterwards. Without it such an event fails and is delivered again later.
    #[must_use]
    pub const fn fail_open(mut self) -> Self {
        self.fail_open = true;
        self
    }

    /// What of a result is stored.
    #[must_use]
    pub const fn result_mode(mut self, result_mode: ResultMode) -> Self {
        self.result_mode = result_mode;
        self
    }

    /// Offloads each result that is larger than this, in bytes (compressed and encrypted, where it is), and not
    /// only those that do not fit: DynamoDB counts a write for every 1 KB. Needs a place for them
    /// ([`Engine::offload`](crate::Engine::offload), or `install_offload` for annotated functions); without one
    /// they are stored as they are.
    #[must_use]
    pub const fn offload_over(mut self, bytes: usize) -> Self {
        self.offload_over = Some(bytes);
        self
    }

    /// What one store verb may take, the retries of the store's client included. It is bounded by
    /// the invocation's time left as well.
    #[must_use]
    pub const fn store_timeout(mut self, store_timeout: Duration) -> Self {
        self.store_timeout = store_timeout;
        self
    }

    /// Makes record ids as Powertools for AWS Lambda does in another language, and its validation hash where the
    /// fingerprint is narrowed: for a function that takes over a table which that one wrote, or shares it. The
    /// function's name is then what stands before the `#` in the table.
    ///
    /// Such ids know of no tenant and no secret, so a call with either is refused.
    ///
    /// ```
    /// use lambda_idempotency_core::key::Powertools;
    /// use lambda_idempotency_core::Policy;
    ///
    /// static TAKEN_OVER: Policy = Policy::new().powertools(Powertools::python());
    /// ```
    #[must_use]
    pub const fn powertools(mut self, powertools: Powertools) -> Self {
        self.powertools = Some(powertools);
        self
    }

    /// How ids are made, where it is not this library's own way.
    #[must_use]
    pub const fn powertools_profile(&self) -> Option<Powertools> {
        self.powertools
    }

    pub(crate) fn after_error(&self) -> OnError {
        match (self.on_error, self.at_most_once) {
            (Some(on_error), _) => on_error,
            (None, true) => OnError::Keep,
            (None, false) => OnError::Release,
        }
    }

    /// Contradictions that can be seen without an event.
    pub(crate) fn contradiction(&self) -> Option<String> {
        let said = |message: &str| Some(message.to_owned());
        if self.expires_after.is_some_and(|life| life.is_zero()) {
            return said("expires_after is zero: a record would protect nothing; give it a length");
        }
        if self.store_timeout.is_zero() {
            return said("the store timeout is zero: no call could be answered in time");
        }
        if self.margin > LONGEST_MARGIN {
            return said("the margin is longer than an hour: an abandoned claim could hardly be taken over");
        }
        if self.at_most_once && self.fail_open {
            return said(
                "at-most-once and fail-open exclude each other: with the store away, every delivery would run",
            );
        }
        if self.at_most_once && self.missing_key == MissingKey::RunUnprotected {
            return said("at-most-once and running without a key exclude each other: refuse a missing key");
        }
        let lease = match self.lease {
            Lease::Renewed { lease, every } if every.is_zero() || every >= lease => {
                return Some(format!(
                    "a lease of {lease:?} that is renewed every {every:?} ends before it is renewed; \
                     renew it a few times per lease"
                ));
            }
            Lease::Fixed(lease) | Lease::Renewed { lease, .. } => lease,
            Lease::Deadline | Lease::DeadlinePlus(_) => return None,
        };
        if lease.is_zero() {
            return said("the lease is zero: a claim would have ended before its work began");
        }
        let expires_after = self.expires_after?;
        (lease > expires_after).then(|| {
            format!(
                "the lease of {lease:?} is longer than expires_after, {expires_after:?}: \
                 a completed record would be gone before an abandoned one; \
                 lengthen expires_after or shorten the lease"
            )
        })
    }
}

/// Clocks that differ by more than half of this are not clocks.
const LONGEST_MARGIN: Duration = Duration::from_secs(3600);
