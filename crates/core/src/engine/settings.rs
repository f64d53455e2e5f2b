//! What is fixed for one guarded function, and the identity of one input under it.

use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use lambda_idempotency_key::{Fingerprint, Key, Name, Secret};

use super::encoding::RESERVED_STEPS;
use super::identity::Identity;
use super::name::checked_name;
use super::report;
use super::results::Results;
use super::run::Run;
use crate::switch;
use crate::{Attempt, Cipher, Clock, Error, Invocation, Observer, Offload, Outcome, Policy, RunError, Store};

/// Name, key, fingerprint and policy of one guarded function.
///
/// [`Engine`](crate::Engine) and `#[idempotent]` are both this and a store.
#[derive(Clone, Debug)]
pub struct Settings {
    pub(super) inner: Arc<Inner>,
}

#[derive(Clone, Debug)]
pub(super) struct Inner {
    pub(super) name: Name,
    /// Whether this library has made up the name.
    pub(super) name_is_default: bool,
    pub(super) key: Key,
    /// The whole input where none is given.
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) policy: Policy,
    pub(super) secret: Option<Secret>,
    pub(super) cipher: Option<Arc<dyn Cipher>>,
    pub(super) offload: Option<Arc<dyn Offload>>,
    observer: Option<Arc<dyn Observer>>,
    pub(super) previous: Option<Key>,
    short_expiry_said: Arc<AtomicBool>,
}

impl Settings {
    /// Settings with the default policy. In `name`, `${AWS_LAMBDA_FUNCTION_NAME}` stands for the name of the
    /// Lambda function.
    ///
    /// # Errors
    /// [`Error::Config`] when `name` is empty, too long, holds a `#`, or stands for a name that is not known.
    pub fn new(name: &str, key: Key) -> Result<Self, Error> {
        let name = checked_name(name)?;
        let inner = Inner {
            name,
            name_is_default: false,
            key,
            fingerprint: None,
            policy: Policy::new(),
            secret: None,
            cipher: None,
            offload: None,
            observer: None,
            previous: None,
            short_expiry_said: Arc::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// What counts as the same content.
    #[must_use]
    pub fn fingerprint(mut self, fingerprint: Fingerprint) -> Self {
        Arc::make_mut(&mut self.inner).fingerprint = Some(fingerprint);
        self
    }

    /// Makes record ids and fingerprints by HMAC with this secret, so that keys and inputs with little in
    /// them (`order-77-v3`) cannot be found from the table by trying. All writers of one table need the same secret.
    #[must_use]
    pub fn secret(mut self, secret: Option<Secret>) -> Self {
        Arc::make_mut(&mut self.inner).secret = secret;
        self
    }

    /// Encrypts results before they go to the store. Records that were written without it are read as
    /// they are.
    ///
    /// # Errors
    /// [`Error::Config`] when the cipher's name cannot stand in a record.
    pub fn cipher(mut self, cipher: Option<Arc<dyn Cipher>>) -> Result<Self, Error> {
        cipher.as_deref().map_or(Ok(()), |cipher| checked_step("cipher", cipher.name()))?;
        Arc::make_mut(&mut self.inner).cipher = cipher;
        Ok(self)
    }

    /// Where results go that are too large for the store.
    ///
    /// # Errors
    /// [`Error::Config`] when the place's name cannot stand in a record.
    pub fn offload(mut self, offload: Option<Arc<dyn Offload>>) -> Result<Self, Error> {
        offload.as_deref().map_or(Ok(()), |offload| checked_step("place", offload.name()))?;
        Arc::make_mut(&mut self.inner).offload = offload;
        Ok(self)
    }

    /// Who is told of each call.
    #[must_use]
    pub fn observer(mut self, observer: Option<Arc<dyn Observer>>) -> Self {
        Arc::make_mut(&mut self.inner).observer = observer;
        self
    }

    /// The key of the work that an input continues: see [`Attempt::previous`].
    #[must_use]
    pub fn previous(mut self, previous: Option<Key>) -> Self {
        Arc::make_mut(&mut self.inner).previous = previous;
        self
    }

    /// How the function is guarded.
    ///
    /// # Errors
    /// [`Error::Config`] when the policy contradicts itself, or does not go with the key.
    pub fn policy(mut self, policy: Policy) -> Result<Self, Error> {
        if let Some(contradiction) = policy.contradiction() {
            let message = format!("{}: {contradiction}", self.name());
            return Err(Error::Config { message });
        }
        if let Some(Err(error)) = policy.powertools.map(|powertools| powertools.check_key(&self.inner.key)) {
            return Err(Error::Config { message: format!("{}: {error}", self.name()) });
        }
        Arc::make_mut(&mut self.inner).policy = policy;
        Ok(self)
    }

    /// The same settings under another name.
    ///
    /// # Errors
    /// As [`Settings::new`].
    pub fn renamed(mut self, name: &str) -> Result<Self, Error> {
        let inner = Arc::make_mut(&mut self.inner);
        inner.name = checked_name(name)?;
        inner.name_is_default = false;
        Ok(self)
    }

    /// Says that nobody has chosen the name. It will do, but not to find records that others wrote.
    #[doc(hidden)]
    #[must_use]
    pub fn with_default_name(mut self) -> Self {
        Arc::make_mut(&mut self.inner).name_is_default = true;
        self
    }

    /// The scope of the key.
    pub fn name(&self) -> &str {
        self.inner.name.as_str()
    }

    pub(crate) fn cipher_ref(&self) -> Option<&dyn Cipher> {
        self.inner.cipher.as_deref()
    }

    pub(crate) fn offload_ref(&self) -> Option<&dyn Offload> {
        self.inner.offload.as_deref()
    }

    pub(crate) fn policy_ref(&self) -> &Policy {
        &self.inner.policy
    }

    /// Life of a completed record: as the policy says, else what the event source needs, else a day.
    pub(crate) fn expires_after(&self, invocation: &Invocation) -> Duration {
        self.inner.policy.expires_after.or(invocation.source_window).unwrap_or(Policy::DEFAULT_EXPIRES_AFTER)
    }

    /// Says once that a record can be gone before its event stops coming.
    pub(crate) fn warn_short_expiry(&self, expires_after: Duration, window: Duration) {
        if !self.inner.short_expiry_said.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                target: "lambda_idempotency",
                function = self.name(),
                expires_after_s = expires_after.as_secs(),
                window_s = window.as_secs(),
                "expires_after is shorter than the time in which this event source can deliver the same work \
                 again (at its defaults): a late delivery would do the work twice"
            );
        }
    }

    /// Runs `work` under `identity`, on `store`, by `clock`; `results` says what becomes of its results.
    ///
    /// # Errors
    /// As [`Engine::run`](crate::Engine::run).
    pub async fn run<T, R, E, F, Fut>(
        &self,
        store: &dyn Store,
        clock: Arc<dyn Clock>,
        identity: Result<Option<Identity>, Error>,
        results: &R,
        work: F,
    ) -> Result<Outcome<R::Answer>, RunError<E>>
    where
        R: Results<T, E>,
        F: FnOnce(Attempt) -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let run = Run { settings: self, store, clock, invocation: Invocation::current() };
        let mut report = report::Report::new(self.name(), self.inner.observer.clone());
        // On the heap: the compiler's depth limit is for the user's own futures around this one.
        let ended = AssertUnwindSafe(Box::pin(async {
            match (switch::disabled(), identity) {
                (Ok(true), _) => run.unprotected(results, work).await,
                (Err(error), _) | (Ok(false), Err(error)) => Err(error.into()),
                (Ok(false), Ok(identity)) => run.guarded(identity, results, work, &mut report).await,
            }
        }));
        let result = ended.catch_unwind().await.unwrap_or_else(|panic| {
            // Nobody else will say it.
            report.panicked();
            resume_unwind(panic)
        });
        if let Err(RunError::Idempotency(error)) = &result
            && error.is_retryable()
            && let Some(outer) = Attempt::current()
        {
            outer.note_refusal_inside();
        }
        report.send(&result);
        result
    }
}

/// The name of a cipher or place as `encoding` can hold it.
fn checked_step(what: &str, name: &str) -> Result<(), Error> {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_plain && !RESERVED_STEPS.contains(&name) {
        return Ok(());
    }
    let message = format!(
        "`{name}` cannot be the name of a {what}: it is written into records; use letters, digits and hyphens, and \
         none of {RESERVED_STEPS:?}"
    );
    Err(Error::Config { message })
}
