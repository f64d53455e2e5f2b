//! What stands behind one annotated function.

use std::future::Future;
use std::sync::{Arc, OnceLock};

use lambda_idempotency_core::{Attempt, Identity, Settings, Typed, clock};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Fingerprint, Invocation, Key, Outcome, Policy, RecordId, Store, installed};

/// What the macro knows of the function.
#[derive(Debug)]
pub struct Spec {
    /// Checked at compile time.
    pub key: &'static str,
    /// `name = "…"`.
    pub name: Option<&'static str>,
    /// Checked at compile time.
    pub fingerprint: Option<&'static str>,
    /// `module_path!()`.
    pub module: &'static str,
    /// The function's identifier.
    pub function: &'static str,
}

/// One annotated function: its settings, made at its first call.
#[derive(Debug)]
pub struct Site {
    spec: Spec,
    settings: OnceLock<Result<Settings, String>>,
}

impl Site {
    /// A site whose settings are not made yet.
    pub const fn new(spec: Spec) -> Self {
        Self { spec, settings: OnceLock::new() }
    }

    /// Starts one call: takes the identity of `input`, before it moves into the function.
    pub fn call<I: Serialize + ?Sized>(&self, policy: impl FnOnce() -> Policy, input: &I) -> Call<'_> {
        self.started(policy, |settings| settings.identify(input, &Invocation::current()))
    }

    /// As [`Site::call`], with a whole Lambda event as the input.
    pub fn call_event<I: Serialize + ?Sized>(&self, policy: impl FnOnce() -> Policy, event: &I) -> Call<'_> {
        self.started(policy, |settings| settings.identify_event(event, &Invocation::current()))
    }

    fn started(
        &self,
        policy: impl FnOnce() -> Policy,
        identify: impl FnOnce(&Settings) -> Result<Option<Identity>, Error>,
    ) -> Call<'_> {
        let settings = self.settings.get_or_init(|| self.make(policy()).map_err(|error| error.to_string()));
        Call(match settings {
            Ok(settings) => Ok((settings, identify(settings))),
            Err(message) => Err(Error::Config { message: message.clone() }),
        })
    }

    fn make(&self, policy: Policy) -> Result<Settings, Error> {
        let spec = &self.spec;
        let unparsed = |error: lambda_idempotency_core::key::ExpressionError| Error::Config {
            message: error.to_string(),
        };
        let name = spec.name.map_or_else(|| self.default_name(), str::to_owned);
        let fingerprint = match spec.fingerprint {
            None => Fingerprint::Whole,
            Some(text) => Fingerprint::parse(text).map_err(unparsed)?,
        };
        Settings::new(&name, Key::parse(spec.key).map_err(unparsed)?)?
            .fingerprint(fingerprint)
            .secret(installed::secret())
            .policy(policy)
    }

    /// Lambda function, module and function: no two functions share it, in one process or in one table.
    fn default_name(&self) -> String {
        let Spec { module, function, .. } = self.spec;
        match std::env::var("AWS_LAMBDA_FUNCTION_NAME") {
            Ok(lambda) if !lambda.is_empty() => format!("{lambda}.{module}::{function}"),
            _ => {
                tracing::debug!(target: "lambda_idempotency", module, function, "AWS_LAMBDA_FUNCTION_NAME is not set; the name is made without it");
                format!("{module}::{function}")
            }
        }
    }
}

/// One call of an annotated function, its identity taken.
#[derive(Debug)]
pub struct Call<'a>(Result<(&'a Settings, Result<Option<Identity>, Error>), Error>);

impl Call<'_> {
    /// Runs the function's body, or answers in its place.
    ///
    /// # Errors
    /// The body's own error, or this library's by way of `From`.
    pub async fn run<T, E, F, Fut>(self, store: Option<&dyn Store>, work: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<Error>,
        F: FnOnce(Attempt) -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let outcome = self.outcome(store, work).await?;
        outcome.into_value().ok_or_else(|| {
            let message = "the policy skips work that is in progress, but the function has no answer for that: \
                           write `in_progress = \"skip\"`, which needs a result type with `Default`";
            Error::Config { message: message.to_owned() }.into()
        })
    }

    /// As [`Call::run`], with the default as the answer of work that is skipped.
    ///
    /// # Errors
    /// As [`Call::run`].
    pub async fn run_or_default<T, E, F, Fut>(self, store: Option<&dyn Store>, work: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned + Default,
        E: From<Error>,
        F: FnOnce(Attempt) -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        Ok(self.outcome(store, work).await?.into_value().unwrap_or_default())
    }

    async fn outcome<T, E, F, Fut>(self, store: Option<&dyn Store>, work: F) -> Result<Outcome<T>, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<Error>,
        F: FnOnce(Attempt) -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let (settings, identity) = self.0?;
        let default: Arc<dyn Store>;
        let store = match store {
            Some(store) => store,
            None => {
                default = installed::store()?;
                &*default
            }
        };
        let result = settings.run(store, clock::current(), identity, &Typed::new(), work).await;
        result.map_err(lambda_idempotency_core::RunError::flatten)
    }
}

/// Tells the compiler the type of the function's body, so that `?` in it means what it meant.
pub fn body<R, F: Future<Output = R>>(body: F) -> F {
    body
}

/// The id under which the record of `input` is stored, for a function called `name` whose key is `key`:
/// what support needs to find one record. Uses the installed secret and the tenant of this invocation.
///
/// ```
/// use lambda_idempotency::compute_id;
///
/// let order = serde_json::json!({"order_id": 77, "version": 3});
/// let id = compute_id("orders.submit", "[order_id, version]", &order)?;
/// assert!(id.as_str().starts_with("orders.submit#"));
/// # Ok::<(), lambda_idempotency::Error>(())
/// ```
///
/// # Errors
/// [`Error::Config`] when name or key cannot be one, [`Error::MissingKey`], [`Error::InvalidKey`] or
/// [`Error::InvalidInput`] when the input has no such key.
pub fn compute_id<I: Serialize + ?Sized>(name: &str, key: &str, input: &I) -> Result<RecordId, Error> {
    let key = Key::parse(key).map_err(|error| Error::Config { message: error.to_string() })?;
    let settings = Settings::new(name, key)?.fingerprint(Fingerprint::Off).secret(installed::secret());
    let identity = settings.identify(input, &Invocation::current())?;
    // Only a policy can let a missing key pass, and this one does not.
    identity
        .map(|identity| identity.id().clone())
        .ok_or_else(|| Error::Config { message: format!("{name}: the input has no key") })
}
