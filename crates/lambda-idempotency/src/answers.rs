//! How the results of an annotated function become answers.

use lambda_idempotency_core::Results;

use crate::bounds::{CarriesErrors, Guarded, Recordable, Replayable, Skippable, Storable};
use crate::{Error, JsonFault, OnError, Replay, Typed};

/// [`Typed`] without a bound on the types: the function that made it has said what is missing, and
/// nobody says it again.
pub struct Answers<T, E> {
    typed: Typed<T, E>,
    results: fn(&Typed<T, E>) -> &dyn Results<T, E, Answer = T>,
    /// This library's error in the function's own.
    pub(crate) error: fn(Error) -> E,
    /// The answer of work that is skipped.
    pub(crate) skipped: fn() -> Option<T>,
}

/// The answers of a function that returns `R`.
pub fn answers<R: Guarded>() -> Answers<R::Ok, R::Err>
where
    R::Ok: Recordable + Replayable,
    R::Err: CarriesErrors,
{
    Answers { typed: Typed::new(), results: |typed| typed, error: R::Err::from, skipped: || None }
}

impl<T, E> Answers<T, E> {
    fn results(&self) -> &dyn Results<T, E, Answer = T> {
        (self.results)(&self.typed)
    }

    /// `in_progress = "skip"`.
    #[must_use]
    pub fn skip(mut self) -> Self
    where
        T: Skippable,
    {
        self.skipped = || Some(T::default());
        self
    }

    /// `on_error = "store"`, and what a path can choose.
    #[must_use]
    pub fn store_failures(mut self) -> Self
    where
        E: Storable,
    {
        self.typed = self.typed.store_failures();
        self
    }

    /// `on_error = path`.
    #[must_use]
    pub fn on_error(mut self, classify: fn(&E) -> OnError) -> Self {
        self.typed = self.typed.on_error(classify);
        self
    }

    /// `store_if = path`.
    #[must_use]
    pub fn store_if(mut self, is_answer: fn(&T) -> bool) -> Self {
        self.typed = self.typed.store_if(is_answer);
        self
    }

    /// `on_replay = path`.
    #[must_use]
    pub fn on_replay(mut self, look: fn(&T, &Replay) -> Result<(), E>) -> Self {
        self.typed = self.typed.on_replay(look);
        self
    }
}

impl<T, E> Results<T, E> for Answers<T, E> {
    type Answer = T;

    fn encode(&self, value: &T) -> Result<String, JsonFault> {
        self.results().encode(value)
    }

    fn executed(&self, value: T, json: &str) -> T {
        self.results().executed(value, json)
    }

    fn unprotected(&self, value: T) -> Result<T, JsonFault> {
        self.results().unprotected(value)
    }

    fn replayed(&self, json: &str) -> Result<T, JsonFault> {
        self.results().replayed(json)
    }

    fn is_answer(&self, value: &T) -> bool {
        self.results().is_answer(value)
    }

    fn on_error(&self, error: &E) -> Option<OnError> {
        self.results().on_error(error)
    }

    fn encode_failure(&self, error: &E) -> Option<Result<String, JsonFault>> {
        self.results().encode_failure(error)
    }

    fn decode_failure(&self, json: &str) -> Option<Result<E, JsonFault>> {
        self.results().decode_failure(json)
    }

    fn on_replay(&self, answer: &T, replay: &Replay) -> Result<(), E> {
        self.results().on_replay(answer, replay)
    }
}

/// Stands in a `return` that is never reached, and tells the compiler what the body returns.
pub fn returns<R>() -> R {
    unreachable!("in no path of the function")
}
