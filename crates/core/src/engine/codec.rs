//! How a result becomes the stored text, and the stored text an answer.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::json;
use crate::JsonFault;

/// What the engine does with results of type `T`.
pub trait Codec<T> {
    /// What the caller gets.
    type Answer;

    /// The JSON text that is stored.
    ///
    /// # Errors
    /// When the value has no JSON form.
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
}

/// The value itself: replays decode the stored text.
#[derive(Clone, Copy, Debug)]
pub struct Typed;

impl<T: Serialize + DeserializeOwned> Codec<T> for Typed {
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
        serde_json::from_str(json).map_err(|error| JsonFault::from(&error))
    }
}

/// The JSON text: replays give the very bytes of the first answer, whatever they decode to.
#[derive(Clone, Copy, Debug)]
pub struct Text;

impl<T: Serialize> Codec<T> for Text {
    type Answer = Box<RawValue>;

    fn encode(&self, value: &T) -> Result<String, JsonFault> {
        json::to_text(value)
    }

    fn executed(&self, _: T, json: &str) -> Box<RawValue> {
        // Made by `encode`, so it is JSON.
        RawValue::from_string(json.to_owned()).unwrap_or_default()
    }

    fn unprotected(&self, value: T) -> Result<Box<RawValue>, JsonFault> {
        RawValue::from_string(json::to_text(&value)?).map_err(|error| JsonFault::from(&error))
    }

    fn replayed(&self, json: &str) -> Result<Box<RawValue>, JsonFault> {
        RawValue::from_string(json.to_owned()).map_err(|error| JsonFault::from(&error))
    }
}
