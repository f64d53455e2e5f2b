//! What stands behind one annotated function.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use lambda_idempotency_core::{Settings, clock, report_refusal, switch};

use crate::answers::Answers;
use crate::event_input::Input;
use crate::place::{Place, plain_place, without_closures};
use crate::{
    Error, Fingerprint, Identity, Invocation, Key, MemoryStore, Outcome, Policy, RunError, Store, installed,
};

/// One annotated function: what the macro knows of it, and its settings, made at its first call.
#[derive(Debug)]
pub struct Site {
    module: &'static str,
    function: &'static str,
    key: &'static str,
    allow_volatile_key: bool,
    name: Option<&'static str>,
    fingerprint: Option<&'static str>,
    previous: Option<&'static str>,
    made: OnceLock<Result<Made, String>>,
}

#[derive(Debug)]
struct Made {
    settings: Settings,
    /// The type whose method this is, where that is part of the name.
    self_type: Option<&'static str>,
    /// Not where protection is switched off.
    is_guarded: bool,
}

impl Site {
    /// The site of `function` in `module`; its key was checked at compile time.
    pub const fn new(module: &'static str, function: &'static str, key: &'static str) -> Self {
        let made = OnceLock::new();
        Self {
            module,
            function,
            key,
            allow_volatile_key: false,
            name: None,
            fingerprint: None,
            previous: None,
            made,
        }
    }

    /// `allow_volatile_key`.
    #[must_use]
    pub const fn allow_volatile_key(mut self) -> Self {
        self.allow_volatile_key = true;
        self
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

    /// `previous = "…"`, checked at compile time.
    #[must_use]
    pub const fn previous(mut self, previous: &'static str) -> Self {
        self.previous = Some(previous);
        self
    }

    /// Starts one call: takes the identity of `input`, before it moves into the function.
    ///
    /// `here` is the type name of a function inside of this one. `policy` is no closure over arguments: it
    /// is asked once, at the first call.
    pub fn call<I: ?Sized>(
        &'static self,
        here: &'static str,
        policy: fn() -> Policy,
        input: Input<'_, I>,
    ) -> Call {
        self.started(here, None, policy, input)
    }

    /// As [`Site::call`], for a method of `T`.
    pub fn method_call<T: ?Sized, I: ?Sized>(
        &'static self,
        here: &'static str,
        policy: fn() -> Policy,
        input: Input<'_, I>,
    ) -> Call {
        self.started(here, Some(std::any::type_name::<T>()), policy, input)
    }

    fn started<I: ?Sized>(
        &'static self,
        here: &'static str,
        self_type: Option<&'static str>,
        policy: fn() -> Policy,
        input: Input<'_, I>,
    ) -> Call {
        let self_type = self_type.filter(|_| self.name.is_none());
        let made = self.made.get_or_init(|| {
            let made = match switch::disabled() {
                // What is wrong with its name or policy keeps no function from running that nothing protects.
                Ok(true) => self.make_unguarded(),
                Ok(false) | Err(_) => self.make(here, self_type, policy()),
            };
            made.map_err(|error| error.to_string())
        });
        let state = match made {
            // A default method of a trait is one function for every type that has it.
            Ok(made) if made.is_guarded && made.self_type != self_type => Err(self.ambiguous(here)),
            Ok(Made { settings, .. }) => {
                let identity = input.identify(settings);
                Ok((settings, identity))
            }
            Err(message) => Err(Error::Config { message: message.clone() }),
        };
        Call { site: self, state, invocation: input.own_invocation() }
    }

    fn make(
        &'static self,
        here: &'static str,
        self_type: Option<&'static str>,
        policy: Policy,
    ) -> Result<Made, Error> {
        let unparsed = |error: lambda_idempotency_core::key::ExpressionError| Error::Config {
            message: error.to_string(),
        };
        let name = match self.name {
            Some(name) => name.to_owned(),
            None => self.default_name(here, self_type)?,
        };
        self.say_if_shared(&name);
        let parse = if self.allow_volatile_key { Key::parse_allowing_volatile } else { Key::parse };
        let settings = Settings::new(&name, parse(self.key).map_err(unparsed)?)?
            .previous(self.previous.map(parse).transpose().map_err(unparsed)?)
            .policy(policy)?;
        let settings = match self.fingerprint {
            Some(text) => settings.fingerprint(Fingerprint::parse(text).map_err(unparsed)?),
            None => settings,
        };
        let settings = if self.name.is_none() { settings.with_default_name() } else { settings };
        Ok(Made { settings: installed::applied_to(settings)?, self_type, is_guarded: true })
    }

    /// Settings with which the function only runs.
    fn make_unguarded(&self) -> Result<Made, Error> {
        let key = Key::parse_allowing_volatile(self.key)
            .map_err(|error| Error::Config { message: error.to_string() })?;
        let settings = Settings::new(&self.plain_name(), key)?.observer(installed::observer());
        Ok(Made { settings, self_type: None, is_guarded: false })
    }

    /// What to call it where there may be no name for its records.
    fn plain_name(&self) -> String {
        let Self { module, function, .. } = self;
        self.name.map_or_else(|| format!("{module}::{function}"), str::to_owned)
    }

    /// Lambda function, module, type and function: the same in every process, and of no two functions.
    fn default_name(&'static self, here: &str, self_type: Option<&str>) -> Result<String, Error> {
        let Self { module, function, .. } = self;
        let path = match plain_place(here, module, function, self_type) {
            Some(Place::Module) => format!("{module}::{function}"),
            Some(Place::Type(of)) => format!("{module}::{of}::{function}"),
            None => return Err(self.ambiguous(here)),
        };
        Ok(match std::env::var("AWS_LAMBDA_FUNCTION_NAME") {
            Ok(lambda) if !lambda.is_empty() => format!("{lambda}.{path}"),
            _ => {
                tracing::debug!(target: "lambda_idempotency", module, function, "AWS_LAMBDA_FUNCTION_NAME is not set; the name is made without it");
                path
            }
        })
    }

    /// Functions inside of functions, methods of traits and of generic types, and associated functions: their
    /// module and name do not say which one it is, and what does is not the same in every build.
    fn ambiguous(&self, here: &str) -> Error {
        let place = without_closures(here);
        Error::Config {
            message: format!(
                "`{place}` has no name of its own that is sure to be the same in every build and of no other \
                 function: name its records with `#[idempotent(name = \"…\")]`"
            ),
        }
    }

    /// A call that ended before there were settings has its line in the log and in the metrics, too.
    fn say_refused(&self, error: &Error) {
        report_refusal(&self.plain_name(), installed::observer(), error);
    }

    /// Two functions of one explicit name share their records, which can be meant.
    fn say_if_shared(&'static self, name: &str) {
        static NAMES: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());
        let me = std::ptr::from_ref(self).addr();
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if *names.entry(name.to_owned()).or_insert(me) != me {
            tracing::warn!(
                target: "lambda_idempotency",
                name,
                "two annotated functions have this name: they share their records, so that one of them answers \
                 with what the other has done"
            );
        }
    }
}

/// What `policy = …` names: a policy or a reference to one.
pub fn policy(policy: &impl Borrow<Policy>) -> Policy {
    policy.borrow().clone()
}

/// One call of an annotated function, its identity taken.
#[derive(Debug)]
pub struct Call {
    site: &'static Site,
    state: Result<(&'static Settings, Result<Option<Identity>, Error>), Error>,
    /// What the event in the function's hand says, where no invocation was set around it.
    invocation: Option<Invocation>,
}

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
        let (settings, mut identity) = self.state.inspect_err(|error| self.site.say_refused(error))?;
        let default: Arc<dyn Store>;
        let store = match store {
            Some(store) => store,
            None => {
                default = installed::store().unwrap_or_else(|error| {
                    // Refused with the call's own line in the log and in the metrics; this store is never asked.
                    identity = Err(error);
                    Arc::new(MemoryStore::new())
                });
                &*default
            }
        };
        // On the heap, and only when the body runs: each layer of the engine would else keep room for the
        // whole of it, and guarded functions that call guarded ones would multiply that.
        let run = settings.run(store, clock::current(), identity, answers, |_| Box::pin(work()));
        match self.invocation {
            Some(invocation) => invocation.scope(run).await,
            None => run.await,
        }
    }
}
