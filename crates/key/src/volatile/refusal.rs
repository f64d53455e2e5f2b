//! Why what an expression selects is no key, in the words for its author.

use super::Purpose;
use super::known;
use super::places::{Place, Places};
use super::value::Value;
use crate::expression::error::ExpressionError;

/// The first part, in the order of the text, that makes this no key.
pub(super) fn refusal(
    text: &str,
    purpose: Purpose,
    selected: &Value<'_>,
    places: &Places<'_>,
) -> Option<ExpressionError> {
    let (is, decides) = match purpose {
        Purpose::Key => ("is no key", "is no key, and none can depend on it"),
        Purpose::Fingerprint => {
            ("cannot be compared", "cannot be compared, and what is compared cannot depend on it")
        }
    };
    let named = |member: &str| places.is_named(member);
    let reason = |place: &Place<'_>| {
        let value = known::value(&place.path).map(|reason| (reason, None));
        value.or_else(|| known::whole(&place.path, named))
    };
    let refused = |place: &Place<'_>, what: &str| {
        let (reason, cure) = reason(place)?;
        Some((place.at, format!("`{}` {what}: {reason}", shown(place)), cure))
    };
    let parts = places.of(selected.all_places()).filter_map(|place| refused(place, is));
    let choices = places.of(selected.all_decided()).filter_map(|place| refused(place, decides));
    let (at, problem, cure) = parts.chain(choices).min_by_key(|(at, ..)| *at)?;
    let instead =
        cure.unwrap_or("take a value that the producer sends again unchanged, such as the order's id");
    let cure = match purpose {
        Purpose::Key => format!(
            "{instead}, or accept it: `allow_volatile_key` in `#[idempotent]`, `Key::parse_allowing_volatile` for an \
             engine or a layer"
        ),
        Purpose::Fingerprint => format!(
            "{instead}: each redelivery would be refused as other content; without `fingerprint` what two deliveries \
             have in common is compared"
        ),
    };
    Some(ExpressionError::new(text, at, problem).with_cure(cure))
}

fn shown(place: &Place<'_>) -> String {
    place.path.join(".").replace(".[]", "[]")
}
