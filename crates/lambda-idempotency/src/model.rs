//! For functions that call a model: which of its answers are answers for everybody.

use serde::Serialize;

use crate::json_members::members;

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
    let answer = members(answer);
    let is = |member: &str, text: &str| answer.get(member).is_some_and(|value| value == text);
    let is_error = is("type", "error") || answer.get("error").is_some_and(|error| !error.is_null());
    !is_error && !is("status", "queued") && !is("status", "in_progress")
}
