//! `json.dumps(value, sort_keys=True)`.

use std::fmt::Write;

use super::numbers::{Shortest, float};
use super::spell::{Spelling, quoted};
use crate::expression::select::SelectError;
use crate::json::node::Member;

pub(super) struct Python;

impl Spelling for Python {
    const COMMA: &'static str = ", ";
    const COLON: &'static str = ": ";

    /// An `int` stays what it is, however large; anything with a point or an exponent is a `float`.
    fn number(out: &mut String, text: &str) {
        if !text.contains(['.', 'e', 'E']) {
            out.push_str(if text == "-0" { "0" } else { text });
            return;
        }
        let number = float(text);
        if number.is_sign_negative() {
            out.push('-');
        }
        if number.is_infinite() {
            out.push_str("Infinity");
            return;
        }
        let shortest = Shortest::of(number);
        // `repr` of a float: an exponent below 1e-4 and from 1e16 on, of two digits at least.
        if (-4..16).contains(&shortest.exponent()) {
            let plain = shortest.plain();
            out.push_str(&plain);
            if !plain.contains('.') {
                out.push_str(".0");
            }
        } else {
            let sign = if shortest.exponent() < 0 { '-' } else { '+' };
            let _ = write!(out, "{}e{sign}{:02}", shortest.mantissa(), shortest.exponent().abs());
        }
    }

    /// ASCII only: anything else is escaped in UTF-16.
    fn string(out: &mut String, text: &str) {
        quoted(out, text, |character| !(' '..='~').contains(&character));
    }

    /// By code points.
    fn order(members: &mut [Member<'_>]) -> Result<(), SelectError> {
        members.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
        Ok(())
    }
}
