//! What a guarded function's results and failures become: stored text, answers, or nothing.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::json;
use crate::{JsonFault, OnError, Replay};

/// What the engine does with results of type `T` and failures of type `E`.
pub trait Results<T, E> {
    /// What the caller gets.
    type Answer;

    /// The JSON text of a result.
    ///
    /// # Errors
    /// When it has no JSON form.
    fn encode(&self, value: &T) -> Result<String, JsonFault>;

    /// The answer of the run that made `value`, whose text is `json`.
    fn executed(&self, value: T, json: &str) -> Self::Answer;

    /// The answer of a run without a record.
    ///
    /// # Errors
    /// When the answer is a text and the value has no JSON form.
    fn unprotected(&self, value: T) -> Result<Self::Answer, JsonFault>;

    /// The answer that was stored as `json`.
    ///
    /// # Errors
    /// When the text does not fit the type.
    fn replayed(&self, json: &str) -> Result<Self::Answer, JsonFault>;

    /// Whether a result is the answer for everybody. If not, its key is given back.
    fn is_answer(&self, value: &T) -> bool {
        let _ = value;
        true
    }

    /// What becomes of the claim after this failure; `None` leaves it to the policy.
    fn on_error(&self, error: &E) -> Option<OnError> {
        let _ = error;
        None
    }

    /// The JSON text of a failure that is stored; `None` where failures are not stored.
    fn encode_failure(&self, error: &E) -> Option<Result<String, JsonFault>> {
        let _ = error;
        None
    }

    /// The failure that was stored as `json`; `None` where failures are not stored.
    fn decode_failure(&self, json: &str) -> Option<Result<E, JsonFault>> {
        let _ = json;
        None
    }

    /// A look at each replayed answer.
    ///
    /// # Errors
    /// Reaches the caller in place of the answer; the record is untouched.
    fn on_replay(&self, answer: &Self::Answer, replay: &Replay) -> Result<(), E> {
        let _ = (answer, replay);
        Ok(())
    }
}

/// Results as values: replays decode the stored text.
///
/// ```
/// use lambda_idempotency_core::{OnError, Typed};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// enum PayError { Declined { code: String }, Timeout }
///
/// // A declined card is an answer like any other; after a timeout the next attempt is real.
/// let results = Typed::<u64, PayError>::new().store_failures().on_error(|error| match error {
///     PayError::Declined { .. } => OnError::Store,
///     PayError::Timeout => OnError::Release,
/// });
/// ```
pub struct Typed<T, E> {
    is_answer: fn(&T) -> bool,
    on_error: fn(&E) -> Option<OnError>,
    classify: Option<fn(&E) -> OnError>,
    on_replay: fn(&T, &Replay) -> Result<(), E>,
    failures: Option<FailureText<E>>,
}

/// How failures are stored.
struct FailureText<E> {
    encode: fn(&E) -> Result<String, JsonFault>,
    decode: fn(&str) -> Result<E, JsonFault>,
}

impl<T, E> Typed<T, E> {
    /// Every `Ok` is the answer; failures are the policy's affair; replays go unseen.
    #[must_use]
    pub fn new() -> Self {
        Self {
            is_answer: |_| true,
            on_error: |_| None,
            classify: None,
            on_replay: |_, _| Ok(()),
            failures: None,
        }
    }

    /// Which `Ok` values are the answer for everybody. The key of another is given back, so that the
    /// next attempt is real.
    #[must_use]
    pub fn store_if(mut self, is_answer: fn(&T) -> bool) -> Self {
        self.is_answer = is_answer;
        self
    }

    /// What becomes of the claim after a failure. [`OnError::Store`] needs
    /// [`Typed::store_failures`].
    #[must_use]
    pub fn on_error(mut self, classify: fn(&E) -> OnError) -> Self {
        self.classify = Some(classify);
        self
    }

    /// A look at each replayed answer, never at that of a first run. Its error reaches the caller in
    /// place of the answer; the record is untouched.
    #[must_use]
    pub fn on_replay(mut self, look: fn(&T, &Replay) -> Result<(), E>) -> Self {
        self.on_replay = look;
        self
    }

    /// Failures are answers: they are stored and replay as the same error, unless
    /// [`Typed::on_error`] says otherwise.
    #[must_use]
    pub fn store_failures(mut self) -> Self
    where
        E: Serialize + DeserializeOwned,
    {
        self.on_error = |_| Some(OnError::Store);
        self.failures = Some(FailureText { encode: |error| json::to_text(error), decode: json::from_text });
        self
    }
}

impl<T, E> Default for Typed<T, E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, E> fmt::Debug for Typed<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Typed").field("stores_failures", &self.failures.is_some()).finish_non_exhaustive()
    }
}

impl<T: Serialize + DeserializeOwned, E> Results<T, E> for Typed<T, E> {
    type Answer = T;

    fn encode(&self, value: &T) -> Result<String, JsonFault> {
        json::to_text(value)
    }

    fn executed(&self, value: T, _: &str) -> T {
        value
    }

    fn unprotected(&self, value: T) -> Result<T, JsonFault> {
        Ok(value)
    }

    fn replayed(&self, json: &str) -> Result<T, JsonFault> {
        json::from_text(json)
    }

    fn is_answer(&self, value: &T) -> bool {
        (self.is_answer)(value)
    }

    fn on_error(&self, error: &E) -> Option<OnError> {
        match self.classify {
            Some(classify) => Some(classify(error)),
            None => (self.on_error)(error),
        }
    }

    fn encode_failure(&self, error: &E) -> Option<Result<String, JsonFault>> {
        self.failures.as_ref().map(|failures| (failures.encode)(error))
    }

    fn decode_failure(&self, json: &str) -> Option<Result<E, JsonFault>> {
        self.failures.as_ref().map(|failures| (failures.decode)(json))
    }

    fn on_replay(&self, answer: &T, replay: &Replay) -> Result<(), E> {
        (self.on_replay)(answer, replay)
    }
}

/// Results as JSON text: replays give the very bytes of the first answer, whatever they decode to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Text {
    is_answer: Option<fn(&RawValue) -> bool>,
}

impl Text {
    /// Every `Ok` is the answer.
    #[must_use]
    pub const fn new() -> Self {
        Self { is_answer: None }
    }

    /// Which results are the answer for everybody. The key of another is given back, so that the next attempt is
    /// real.
    #[must_use]
    pub const fn store_if(mut self, is_answer: fn(&RawValue) -> bool) -> Self {
        self.is_answer = Some(is_answer);
        self
    }
}

impl<T: Serialize, E> Results<T, E> for Text {
    type Answer = Box<RawValue>;

    fn encode(&self, value: &T) -> Result<String, JsonFault> {
        json::to_text(value)
    }

    fn executed(&self, _: T, json: &str) -> Box<RawValue> {
        // Made by `encode`, so it is JSON.
        RawValue::from_string(json.to_owned()).unwrap_or_default()
    }

    fn unprotected(&self, value: T) -> Result<Box<RawValue>, JsonFault> {
        raw(json::to_text(&value)?)
    }

    fn replayed(&self, json: &str) -> Result<Box<RawValue>, JsonFault> {
        raw(json.to_owned())
    }

    fn is_answer(&self, value: &T) -> bool {
        let Some(is_answer) = self.is_answer else { return true };
        // What cannot be written, or panics at it, is said so when it is.
        let written = catch_unwind(AssertUnwindSafe(|| json::to_text(value).and_then(raw)));
        written.ok().and_then(Result::ok).is_none_or(|raw| is_answer(&raw))
    }
}

fn raw(json: String) -> Result<Box<RawValue>, JsonFault> {
    RawValue::from_string(json).map_err(|error| JsonFault::from(&error))
}
