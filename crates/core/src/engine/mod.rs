//! Claim, run, complete or release: the protocol carried out.

mod callbacks;
mod claim;
mod detached;
mod encoding;
mod finish;
mod identity;
mod json;
mod kept;
mod limits;
mod name;
mod renew;
mod report;
mod results;
mod run;
mod settings;
mod unprotected;
mod wait;

use std::future::Future;
use std::sync::Arc;

use lambda_idempotency_key::{Fingerprint, Key, Secret};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use identity::Identity;
pub(crate) use json::from_text;
#[doc(hidden)]
pub use report::report_refusal;
pub use results::{Results, Text, Typed};
pub use settings::Settings;

use crate::{
    Attempt, Cipher, Clock, Error, Invocation, Observer, Offload, Outcome, Policy, RunError, Store,
    SystemClock,
};

/// A guard around any async work, without macro or layer.
///
/// Cheap to clone; one engine serves any number of tasks at once.
#[derive(Clone, Debug)]
pub struct Engine {
    settings: Settings,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl Engine {
    /// An engine that guards the work called `name` by `key`.
    ///
    /// `name` is the scope of the key and part of every record id: two engines with one name share
    /// their records. It must stay the same across deploys. `${AWS_LAMBDA_FUNCTION_NAME}` in it stands for the name
    /// of the Lambda function.
    ///
    /// # Errors
    /// [`Error::Config`] when `name` is empty, too long, holds a `#`, or stands for a name that is not known.
    pub fn new(name: &str, store: impl Store + 'static, key: Key) -> Result<Self, Error> {
        Ok(Self { settings: Settings::new(name, key)?, store: Arc::new(store), clock: Arc::new(SystemClock) })
    }

    /// What counts as the same content. The whole input unless set.
    #[must_use]
    pub fn fingerprint(mut self, fingerprint: Fingerprint) -> Self {
        self.settings = self.settings.fingerprint(fingerprint);
        self
    }

    /// Makes record ids and fingerprints by HMAC with this secret, so that keys and inputs with little in them
    /// (`order-77-v3`) cannot be found from the table by trying. All writers of one table need the same secret.
    #[must_use]
    pub fn secret(mut self, secret: Secret) -> Self {
        self.settings = self.settings.secret(Some(secret));
        self
    }

    /// Encrypts results before they go to the store. Records that were written without it are read as they are.
    ///
    /// # Errors
    /// [`Error::Config`] when the cipher's name cannot stand in a record.
    pub fn cipher(mut self, cipher: impl Cipher + 'static) -> Result<Self, Error> {
        self.settings = self.settings.cipher(Some(Arc::new(cipher)))?;
        Ok(self)
    }

    /// Keeps results that are too large for the store (and those over
    /// [`Policy::offload_over`]) elsewhere. Readers need the same place.
    ///
    /// # Errors
    /// [`Error::Config`] when the place's name cannot stand in a record.
    pub fn offload(mut self, offload: impl Offload + 'static) -> Result<Self, Error> {
        self.settings = self.settings.offload(Some(Arc::new(offload)))?;
        Ok(self)
    }

    /// Tells `observer` of each call.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.settings = self.settings.observer(Some(Arc::new(observer)));
        self
    }

    /// The key of the work that an input continues, where it names one. What is recorded of that is then
    /// [`Attempt::previous`].
    ///
    /// ```
    /// use lambda_idempotency_core::{Attempt, Engine, Key, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let engine = Engine::new("runs", MemoryStore::new(), Key::parse("[job, version]")?)?
    ///     .previous(Key::parse("[job, continues]")?);
    /// let run = |attempt: Attempt| async move {
    ///     let before: Option<String> = attempt.previous().and_then(|previous| previous.result().ok()?);
    ///     Ok::<_, std::io::Error>(match before {
    ///         Some(before) => format!("{before} and more"),
    ///         None => "the first part".to_owned(),
    ///     })
    /// };
    /// engine.run(&serde_json::json!({"job": 7, "version": 1}), run).await?;
    /// let second = engine.run(&serde_json::json!({"job": 7, "version": 2, "continues": 1}), run).await?;
    /// assert_eq!(second.into_value().as_deref(), Some("the first part and more"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn previous(mut self, previous: Key) -> Self {
        self.settings = self.settings.previous(Some(previous));
        self
    }

    /// How the work is guarded.
    ///
    /// # Errors
    /// [`Error::Config`] when the policy contradicts itself, or does not go with the key.
    pub fn policy(mut self, policy: Policy) -> Result<Self, Error> {
        self.settings = self.settings.policy(policy)?;
        Ok(self)
    }

    /// Where the time comes from. The machine's clock unless set.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The identity that `input` has here: the id under which its record is stored, and its
    /// fingerprint. `None` when the key is missing and the policy lets such work run.
    ///
    /// ```
    /// use lambda_idempotency_core::{Engine, Key, MemoryStore};
    ///
    /// let engine = Engine::new("orders.submit", MemoryStore::new(), Key::parse("order_id")?)?;
    /// let identity = engine.identify(&serde_json::json!({"order_id": 77}))?.expect("has the key");
    /// assert!(identity.id().as_str().starts_with("orders.submit#"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::MissingKey`], [`Error::InvalidKey`] or [`Error::InvalidInput`].
    pub fn identify<I: Serialize + ?Sized>(&self, input: &I) -> Result<Option<Identity>, Error> {
        self.settings.identify(input, &Invocation::current())
    }

    /// Runs `work` unless it has an answer already, and gives that answer to everybody who asks.
    ///
    /// An input that is a whole event of several records is one piece of work here; handlers that are annotated
    /// or behind the layer refuse one.
    ///
    /// # Errors
    /// [`RunError::Function`] when `work` failed, [`RunError::Idempotency`] when it did not run or
    /// its result could not be recorded; [`Error`] says which and how to mend it.
    ///
    /// # Panics
    /// Only when `work` panics: the claim is given back, or kept as the policy says, and the panic
    /// goes on. A callback about a result that panics ([`Typed`]) keeps the claim: the work is done by then.
    pub async fn run<I, T, E, F, Fut>(&self, input: &I, work: F) -> Result<Outcome<T>, RunError<E>>
    where
        I: Serialize + ?Sized,
        T: Serialize + DeserializeOwned,
        F: FnOnce(Attempt) -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        self.run_with(input, &Typed::new(), work).await
    }

    /// As [`Engine::run`], with a say in which results and failures are the answer for everybody.
    ///
    /// ```
    /// use lambda_idempotency_core::{Engine, Key, MemoryStore, Outcome, Typed};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let engine = Engine::new("quotes", MemoryStore::new(), Key::parse("id")?)?;
    /// let results = Typed::new().store_if(|price: &u32| *price > 0);
    /// let quote = serde_json::json!({"id": 1});
    /// // No price yet: the key is given back, and the next attempt is real.
    /// engine.run_with(&quote, &results, |_| async { Ok::<_, std::io::Error>(0) }).await?;
    /// let second = engine.run_with(&quote, &results, |_| async { Ok::<_, std::io::Error>(7) }).await?;
    /// assert_eq!(second, Outcome::Executed(7));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Engine::run`]; a recorded failure is [`RunError::Replayed`].
    ///
    /// # Panics
    /// As [`Engine::run`].
    pub async fn run_with<I, T, R, E, F, Fut>(
        &self,
        input: &I,
        results: &R,
        work: F,
    ) -> Result<Outcome<R::Answer>, RunError<E>>
    where
        I: Serialize + ?Sized,
        R: Results<T, E>,
        F: FnOnce(Attempt) -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let identity = self.settings.identify(input, &Invocation::current());
        self.settings.run(&*self.store, Arc::clone(&self.clock), identity, results, work).await
    }
}
