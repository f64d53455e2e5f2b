//! What stands behind one annotated function.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures_util::FutureExt;
use lambda_idempotency_core::{Attempt, Identity, Settings, Typed, clock};
use serde::Serialize;

use crate::bounds::{Guarded, Skippable, Storable};
use crate::event_input::Input;
use crate::{
    Error, Fingerprint, Invocation, Key, OnError, Outcome, Policy, RecordId, Replay, Store, installed,
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
    pub fn call<I: Serialize + ?Sized>(&'static self, policy: fn() -> Policy, input: Input<'_, I>) -> Call {
        self.started(None, policy, input)
    }

    /// As [`Site::call`], for a method of `T`.
    pub fn method_call<T: ?Sized, I: Serialize + ?Sized>(
        &'static self,
        policy: fn() -> Policy,
        input: Input<'_, I>,
    ) -> Call {
        self.started(Some(short_name(std::any::type_name::<T>())), policy, input)
    }

    fn started<I: Serialize + ?Sized>(
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
                let identity = input.check(settings.name()).and_then(|()| {
                    let invocation = Invocation::current();
                    match input.is_event {
                        true => settings.identify_event(input.value, &invocation),
                        false => settings.identify(input.value, &invocation),
                    }
                });
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
    pub async fn run<R, F, Fut>(self, store: Option<&dyn Store>, answers: Answers<R>, work: F) -> R
    where
        R: Guarded,
        F: FnOnce(Attempt) -> Fut,
        Fut: Future<Output = R>,
    {
        let Answers { typed, skipped } = answers;
        let outcome = self.outcome(store, &typed, work).await;
        R::from_result(outcome.and_then(|outcome| {
            outcome.into_value().or_else(skipped).ok_or_else(|| {
                let message = "the policy skips work that is in progress, but the function has no answer for that: \
                               write `in_progress = \"skip\"`, which needs a result type with `Default`";
                Error::Config { message: message.to_owned() }.into()
            })
        }))
    }

    async fn outcome<R, F, Fut>(
        self,
        store: Option<&dyn Store>,
        typed: &Typed<R::Ok, R::Err>,
        work: F,
    ) -> Result<Outcome<R::Ok>, R::Err>
    where
        R: Guarded,
        F: FnOnce(Attempt) -> Fut,
        Fut: Future<Output = R>,
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
        let work = |attempt| work(attempt).map(R::into_result);
        let result = settings.run(store, clock::current(), identity, typed, work).await;
        result.map_err(lambda_idempotency_core::RunError::flatten)
    }
}

/// How the results of an annotated function become answers.
#[derive(Debug)]
pub struct Answers<R: Guarded> {
    typed: Typed<R::Ok, R::Err>,
    /// The answer of work that is skipped.
    skipped: fn() -> Option<R::Ok>,
}

/// The answers of a function that returns `R`.
pub fn answers<R: Guarded>() -> Answers<R> {
    Answers { typed: Typed::new(), skipped: || None }
}

impl<R: Guarded> Answers<R> {
    /// `in_progress = "skip"`.
    #[must_use]
    pub fn skip(mut self) -> Self
    where
        R::Ok: Skippable,
    {
        self.skipped = || Some(Default::default());
        self
    }

    /// `on_error = "store"`, and what a path can choose.
    #[must_use]
    pub fn store_failures(mut self) -> Self
    where
        R::Err: Storable,
    {
        self.typed = self.typed.store_failures();
        self
    }

    /// `on_error = path`.
    #[must_use]
    pub fn on_error(mut self, classify: fn(&R::Err) -> OnError) -> Self {
        self.typed = self.typed.on_error(classify);
        self
    }

    /// `store_if = path`.
    #[must_use]
    pub fn store_if(mut self, is_answer: fn(&R::Ok) -> bool) -> Self {
        self.typed = self.typed.store_if(is_answer);
        self
    }

    /// `on_replay = path`.
    #[must_use]
    pub fn on_replay(mut self, look: fn(&R::Ok, &Replay) -> Result<(), R::Err>) -> Self {
        self.typed = self.typed.on_replay(look);
        self
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
