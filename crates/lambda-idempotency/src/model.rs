//! For functions that call a model: which of its answers are answers for everybody.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// For `store_if`: every answer that a model has finished is final, the unpleasant ones too: one that was cut off at
/// its token limit (`stop_reason: "max_tokens"`, `finish_reason: "length"`, `stopReason: "max_tokens"`,
/// `status: "incomplete"`), a refusal, a filtered one. It was paid for, and asking again pays again, usually for
/// the same; whoever wants more asks under a new key and finds the first part as
/// [`Attempt::previous`](crate::Attempt::previous).
///
/// Not an answer is what has not been one yet: an error in place of an answer (`type: "error"`, an `error` that is
/// not null), and a run that is still going on (`status: "queued"` or `"in_progress"`). Its key is given back.
///
/// The names are those of Anthropic's Messages API, OpenAI's Chat Completions and Responses, and Amazon Bedrock's
/// Converse. What has none of them is an answer.
///
/// ```
/// use lambda_idempotency::model;
/// use serde_json::json;
///
/// assert!(model::is_answer(&json!({"stop_reason": "max_tokens", "content": ["Once upon"]})));
/// assert!(!model::is_answer(&json!({"type": "error", "error": {"type": "overloaded_error"}})));
/// ```
pub fn is_answer<T: Serialize + ?Sized>(answer: &T) -> bool {
    #[derive(Default, Deserialize)]
    struct Answer {
        #[serde(default, rename = "type")]
        kind: Value,
        #[serde(default)]
        error: Value,
        #[serde(default)]
        status: Value,
    }
    // What is no object has none of these.
    let answer: Answer = serde_json::to_string(answer)
        .ok()
        .and_then(|json| serde_json::from_str(&json).ok())
        .unwrap_or_default();
    let goes_on = ["queued", "in_progress"].iter().any(|status| answer.status == **status);
    answer.kind != "error" && answer.error.is_null() && !goes_on
}
