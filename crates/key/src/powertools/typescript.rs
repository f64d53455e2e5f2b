//! `JSON.stringify(deepSort(value))`, with the utility's own `deepSort`.

use std::fmt::Write;

use super::numbers::{Shortest, float};
use super::spell::{Spelling, quoted};
use crate::expression::select::SelectError;
use crate::json::node::Member;

pub(super) struct TypeScript;

impl Spelling for TypeScript {
    const COMMA: &'static str = ",";
    const COLON: &'static str = ":";

    /// Every number is a double; beyond its range it is `null`.
    fn number(out: &mut String, text: &str) {
        let number = float(text);
        if number.is_infinite() {
            out.push_str("null");
            return;
        }
        if number < 0.0 {
            out.push('-');
        }
        let shortest = Shortest::of(number);
        // `Number::toString` of ECMAScript: an exponent below 1e-6 and from 1e21 on.
        if (-6..21).contains(&shortest.exponent()) {
            out.push_str(&shortest.plain());
        } else {
            let sign = if shortest.exponent() < 0 { '-' } else { '+' };
            let _ = write!(out, "{}e{sign}{}", shortest.mantissa(), shortest.exponent().abs());
        }
    }

    /// The fewest escapes.
    fn string(out: &mut String, text: &str) {
        quoted(out, text, |character| character < ' ');
    }

    /// The utility sorts by names in lower case; names that differ only in case stay in the order of the text. But
    /// an object puts names that are array indexes first, by their number, whatever the order they came in.
    fn order(members: &mut [Member<'_>]) -> Result<(), SelectError> {
        if members.iter().any(|member| member.name.as_str() == "__proto__") {
            return Err(SelectError::OtherInPowertools {
                part: "__proto__".to_owned(),
                reason: "is a member that TypeScript leaves out of what it hashes",
            });
        }
        members.sort_by_cached_key(|member| match array_index(member.name.as_str()) {
            Some(index) => (0, index, Vec::new()),
            None => (1, 0, member.name.as_str().to_lowercase().encode_utf16().collect()),
        });
        Ok(())
    }
}

/// The number of a name that is an array index of ECMAScript: `0`, `17`, at most 2^32 - 2.
fn array_index(name: &str) -> Option<u32> {
    let index: u32 = name.parse().ok()?;
    (index < u32::MAX && index.to_string() == name).then_some(index)
}
