//! JSON in DynamoDB's own types, as Powertools for TypeScript keeps results.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// How deep lists and maps may nest: 32 levels (a DynamoDB quota), of which the attribute itself is one.
const LEVELS: usize = 31;
/// The most digits of a number, and its least and (rounded down) its greatest size (DynamoDB's number type).
const DIGITS: usize = 38;
const LEAST: f64 = 1e-130;
const GREATEST: f64 = 9.99e125;

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

/// The value of a JSON text; `None` for what DynamoDB's types do not hold: numbers of too many digits or beyond
/// their range, deep nesting.
pub(crate) fn value(json: &str) -> Option<AttributeValue> {
    value_at(json, LEVELS)
}

fn value_at(json: &str, levels: usize) -> Option<AttributeValue> {
    Some(match json.as_bytes().first()? {
        b'n' => AttributeValue::Null(true),
        b't' => AttributeValue::Bool(true),
        b'f' => AttributeValue::Bool(false),
        b'"' => AttributeValue::S(serde_json::from_str(json).ok()?),
        b'[' => {
            let levels = levels.checked_sub(1)?;
            let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            let elements = elements.into_iter().map(|element| value_at(element.get(), levels));
            AttributeValue::L(elements.collect::<Option<_>>()?)
        }
        b'{' => {
            let levels = levels.checked_sub(1)?;
            let members: HashMap<String, &RawValue> = serde_json::from_str(json).ok()?;
            let members =
                members.into_iter().map(|(name, member)| Some((name, value_at(member.get(), levels)?)));
            AttributeValue::M(members.collect::<Option<_>>()?)
        }
        _ => fits(json).then(|| AttributeValue::N(json.to_owned()))?,
    })
}

/// Whether DynamoDB holds this number exactly.
fn fits(number: &str) -> bool {
    let mantissa = number.split(['e', 'E']).next().unwrap_or(number);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let size = number.parse::<f64>().map_or(f64::INFINITY, f64::abs);
    let zero = digits.bytes().all(|digit| digit == b'0');
    zero || (digits.trim_matches('0').len() <= DIGITS && (LEAST..=GREATEST).contains(&size))
}

/// The size of a value as DynamoDB counts it: strings and names in UTF-8 bytes, a number at most 21, a list or map 3
/// and 1 for each element (the DynamoDB developer guide on item sizes).
pub(crate) fn size(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::Bool(_) | AttributeValue::Null(_) => 1,
        AttributeValue::L(elements) => 3 + elements.iter().map(|element| 1 + size(element)).sum::<usize>(),
        AttributeValue::M(members) => {
            3 + members.iter().map(|(name, value)| 1 + name.len() + size(value)).sum::<usize>()
        }
        _ => 21,
    }
}
