//! What stands behind one annotated function.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use lambda_idempotency_core::{Settings, clock};
use serde::Serialize;

use crate::answers::Answers;
use crate::event_input::Input;
use crate::{
    Error, Fingerprint, Identity, Invocation, Key, Outcome, Policy, RecordId, RunError, Store, installed,
};

/// One annotated function: what the macro knows of it, and its settings, made at its first call.
#[derive(Debug)]
pub struct Site {
    module: &'static str,
    function: &'static str,
    key: &'static str,
    name: Option<&'static str>,
    fingerprint: Option<&'static str>,
    made: OnceLock<Result<Made, String>>,
}

#[derive(Debug)]
struct Made {
    settings: Settings,
    /// The type whose method this is, where that is part of the name.
    owner: Option<&'static str>,
}

impl Site {
    /// The site of `function` in `module`; its key was checked at compile time.
    pub const fn new(module: &'static str, function: &'static str, key: &'static str) -> Self {
        Self { module, function, key, name: None, fingerprint: None, made: OnceLock::new() }
    }

    /// `name = "…"`.
    #[must_use]
    pub const fn name(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// `fingerprint = "…"`, checked at compile time.
    #[must_use]
    pub const fn fingerprint(mut self, fingerprint: &'static str) -> Self {
        self.fingerprint = Some(fingerprint);
        self
    }

    /// Starts one call: takes the identity of `input`, before it moves into the function.
    ///
    /// `policy` is no closure over arguments: it is asked once, at the first call.
    pub fn call<I: ?Sized>(&'static self, policy: fn() -> Policy, input: Input<'_, I>) -> Call {
        self.started(None, policy, input)
    }

    /// As [`Site::call`], for a method of `T`.
    pub fn method_call<T: ?Sized, I: ?Sized>(
        &'static self,
        policy: fn() -> Policy,
        input: Input<'_, I>,
    ) -> Call {
        self.started(Some(short_name(std::any::type_name::<T>())), policy, input)
    }

    fn started<I: ?Sized>(
        &'static self,
        owner: Option<&'static str>,
        policy: fn() -> Policy,
        input: Input<'_, I>,
    ) -> Call {
        let owner = owner.filter(|_| self.name.is_none());
        let made = self.made.get_or_init(|| self.make(owner, policy()).map_err(|error| error.to_string()));
        Call(match made {
            Ok(made) if made.owner != owner => Err(Error::Config { message: self.several_owners() }),
            Ok(Made { settings, .. }) => {
                let identity = input.identify(settings);
                Ok((settings, identity))
            }
            Err(message) => Err(Error::Config { message: message.clone() }),
        })
    }

    fn make(&'static self, owner: Option<&'static str>, policy: Policy) -> Result<Made, Error> {
        let unparsed = |error: lambda_idempotency_core::key::ExpressionError| Error::Config {
            message: error.to_string(),
        };
        let name = match self.name {
            Some(name) => name.to_owned(),
            None => self.default_name(owner)?,
        };
        let fingerprint = match self.fingerprint {
            None => Fingerprint::Whole,
            Some(text) => Fingerprint::parse(text).map_err(unparsed)?,
        };
        let settings = Settings::new(&name, Key::parse(self.key).map_err(unparsed)?)?
            .fingerprint(fingerprint)
            .secret(installed::secret())
            .cipher(installed::cipher())
            .policy(policy)?;
        Ok(Made { settings, owner })
    }

    /// Lambda function, module, type and function: no two functions share it, in one process or in one table.
    fn default_name(&'static self, owner: Option<&'static str>) -> Result<String, Error> {
        let Self { module, function, .. } = self;
        let path = match owner {
            Some(owner) => format!("{module}::{owner}::{function}"),
            None => format!("{module}::{function}"),
        };
        let name = match std::env::var("AWS_LAMBDA_FUNCTION_NAME") {
            Ok(lambda) if !lambda.is_empty() => format!("{lambda}.{path}"),
            _ => {
                tracing::debug!(target: "lambda_idempotency", module, function, "AWS_LAMBDA_FUNCTION_NAME is not set; the name is made without it");
                path
            }
        };
        self.only_owner_of(&name)?;
        Ok(name)
    }

    /// Functions inside of functions and associated functions of two types can have one path.
    fn only_owner_of(&'static self, name: &str) -> Result<(), Error> {
        static NAMES: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());
        let me = std::ptr::from_ref(self).addr();
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        match *names.entry(name.to_owned()).or_insert(me) {
            owner if owner == me => Ok(()),
            _ => Err(Error::Config {
                message: format!(
                    "two annotated functions would share the records of `{name}`; \
                     give each a name of its own with `#[idempotent(name = \"…\")]`"
                ),
            }),
        }
    }

    fn several_owners(&self) -> String {
        format!(
            "the method `{}` in `{}` is annotated once for several types; \
             name its records with `#[idempotent(name = \"…\")]`",
            self.function, self.module
        )
    }
}

/// `Type` of `some::module::Type<parameters>`.
fn short_name(path: &'static str) -> &'static str {
    let path = path.split_once('<').map_or(path, |(path, _)| path);
    path.rsplit_once("::").map_or(path, |(_, name)| name)
}

/// What `policy = …` names: a policy or a reference to one.
pub fn policy(policy: &impl Borrow<Policy>) -> Policy {
    policy.borrow().clone()
}

/// One call of an annotated function, its identity taken.
#[derive(Debug)]
pub struct Call(Result<(&'static Settings, Result<Option<Identity>, Error>), Error>);

impl Call {
    /// Runs the function's body, or answers in its place: with the body's own error, or this library's
    /// by way of `From`.
    pub async fn run<T, E, F, Fut>(
        self,
        store: Option<&dyn Store>,
        answers: Answers<T, E>,
        work: F,
    ) -> Result<T, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let outcome = self.outcome(store, &answers, work).await.map_err(|error| match error {
            RunError::Idempotency(error) => (answers.error)(error),
            RunError::Function(error) | RunError::Replayed(error, _) => error,
        })?;
        outcome.into_value().or_else(answers.skipped).ok_or_else(|| {
            let message = "the policy skips work that is in progress, but the function has no answer for that: \
                           write `in_progress = \"skip\"`, which needs a result type with `Default`";
            (answers.error)(Error::Config { message: message.to_owned() })
        })
    }

    async fn outcome<T, E, F, Fut>(
        self,
        store: Option<&dyn Store>,
        answers: &Answers<T, E>,
        work: F,
    ) -> Result<Outcome<T>, RunError<E>>
    where
        F: FnOnce() -> Fut,
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
        // On the heap, and only when the body runs: each layer of the engine would else keep room for the
        // whole of it, and guarded functions that call guarded ones would multiply that.
        settings.run(store, clock::current(), identity, answers, |_| Box::pin(work())).await
    }
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

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn a_type_is_named_without_its_path_and_parameters() {
        for (path, name) in [
            ("orders::worker::Worker", "Worker"),
            ("orders::worker::Worker<orders::client::Http, 'static>", "Worker"),
            ("u32", "u32"),
        ] {
            assert_eq!(short_name(path), name);
        }
    }
}
