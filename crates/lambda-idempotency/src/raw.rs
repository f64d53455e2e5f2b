//! The event's own text beside its typed form.

use std::fmt;
use std::ops::{Deref, DerefMut};

use lambda_idempotency_core::refusals;
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{Error, JsonFault};

/// A typed value together with the JSON text that it was parsed from.
///
/// Key and fingerprint are taken from the text, so that unknown fields and spelling count, and a
/// deploy that adds a field to the type changes nothing in flight. Derefs to `T`; serialises as the
/// captured text.
///
/// A guarded function takes its key before its body runs, so the body may change the typed value. After
/// a `&mut` borrow the two may differ, and neither is then sure to say which work it is: the value no longer
/// serialises, and another guarded function that is given it refuses it with
/// [`Error::InvalidInput`]. Change what [`Raw::into_inner`] gives instead, or name the input that is meant.
/// As a result it would be `NotRecorded`: return the typed value.
///
/// `Debug` shows neither.
///
/// ```
/// use lambda_idempotency::Raw;
/// #[derive(serde::Deserialize)]
/// struct Order { order_id: u64 }
///
/// let order = Raw::<Order>::from_json(r#"{"order_id": 77, "note": "unknown to the type"}"#)?;
/// assert_eq!(order.order_id, 77);
/// assert!(order.json().contains("note"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Raw<T> {
    value: T,
    json: Box<RawValue>,
    /// Whether `value` was lent as `&mut`.
    lent: bool,
}

impl<T> Raw<T> {
    /// The captured JSON text, whatever has become of the typed value.
    pub fn json(&self) -> &str {
        self.json.get()
    }

    /// The typed value alone.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: DeserializeOwned> Raw<T> {
    /// From JSON text, as an event brings it.
    ///
    /// # Errors
    /// [`Error::UnreadableEvent`] when the text is not JSON or does not fit `T`; it says where, without
    /// quoting the text.
    pub fn from_json(json: &str) -> Result<Self, Error> {
        Self::parse(json).map_err(|reason| Error::UnreadableEvent { expected: type_name::<T>(), reason })
    }

    /// From a JSON value, for tests.
    ///
    /// # Errors
    /// [`Error::UnreadableEvent`] when the value does not fit `T`.
    pub fn from_value(value: &Value) -> Result<Self, Error> {
        Self::from_json(&value.to_string())
    }

    fn parse(json: &str) -> Result<Self, JsonFault> {
        let fault = |error: serde_json::Error| JsonFault::from(&error);
        let json: Box<RawValue> = serde_json::from_str(json).map_err(fault)?;
        let value = serde_json::from_str(json.get()).map_err(fault)?;
        Ok(Self { value, json, lent: false })
    }
}

fn type_name<T>() -> String {
    std::any::type_name::<T>().to_owned()
}

impl<T> Deref for Raw<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Raw<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.lent = true;
        &mut self.value
    }
}

impl<T> Serialize for Raw<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.lent {
            return Err(S::Error::custom(refusals::CHANGED_SINCE_CAPTURED));
        }
        self.json.serialize(serializer)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Raw<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        match serde_json::from_str(json.get()) {
            Ok(value) => Ok(Self { value, json, lent: false }),
            Err(error) => {
                // serde's own message quotes the value that does not fit; an event is nobody's log line.
                let fault = JsonFault::from(&error);
                Err(D::Error::custom(format!("the event does not fit {}: {fault}", type_name::<T>())))
            }
        }
    }
}

impl<T> fmt::Debug for Raw<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Raw<{}>(<{} bytes>)", std::any::type_name::<T>(), self.json.get().len())
    }
}
