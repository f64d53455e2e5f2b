//! The members of what is written as a JSON object.

use serde::Serialize;
use serde_json::{Map, Value};

/// None of anything that is no object, a list say, or that cannot be written.
pub(crate) fn members<T: Serialize + ?Sized>(value: &T) -> Map<String, Value> {
    // By way of text: a raw value is no object to `to_value` under every feature.
    let json = serde_json::to_string(value).ok();
    json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default()
}
