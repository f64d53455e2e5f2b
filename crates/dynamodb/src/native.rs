//! Results in DynamoDB's own types, as Powertools for TypeScript keeps them.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::de::IgnoredAny;

/// The JSON text of a value; `None` for what JSON does not have (sets and bytes).
pub(crate) fn json(value: &AttributeValue) -> Option<String> {
    let text = |text: &String| serde_json::to_string(text).ok();
    match value {
        AttributeValue::Null(_) => Some("null".to_owned()),
        AttributeValue::Bool(value) => Some(value.to_string()),
        // As it is, so that no digit is lost.
        AttributeValue::N(number) => {
            serde_json::from_str::<IgnoredAny>(number).is_ok().then(|| number.clone())
        }
        AttributeValue::S(value) => text(value),
        AttributeValue::L(elements) => {
            let elements: Option<Vec<_>> = elements.iter().map(json).collect();
            Some(format!("[{}]", elements?.join(",")))
        }
        AttributeValue::M(members) => {
            let mut members: Vec<_> = members.iter().collect();
            // By name: the order in which they arrive is not the order of anything.
            members.sort_unstable_by_key(|(name, _)| *name);
            let member =
                |(name, value): (&String, &AttributeValue)| Some(format!("{}:{}", text(name)?, json(value)?));
            let members: Option<Vec<_>> = members.into_iter().map(member).collect();
            Some(format!("{{{}}}", members?.join(",")))
        }
        _ => None,
    }
}
