//! Numbers as exact decimals: a sign, digits without outer zeros, an exponent.
//!
//! Never through `f64`: 64-bit ids stay exact, and `1`, `1.0` and `1e0` are one number.

pub(crate) mod arithmetic;
pub(crate) mod exponent;

use std::cmp::Ordering;

use exponent::Exponent;

/// Up to how many digits a number is spelled without an exponent.
const PLAIN_DIGITS: i64 = 40;

/// A number: `digits × 10^exponent`, negative or not. Zero has no digits and no sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    /// ASCII digits; the first and the last are not `0`.
    digits: String,
    exponent: Exponent,
}

impl Decimal {
    /// Reads a text that is a JSON number. (Anything else gives some number, and no panic.)
    pub(crate) fn parse(text: &str) -> Self {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits = String::with_capacity(whole.len() + fraction.len());
        digits.push_str(whole);
        digits.push_str(fraction);
        Self::build(negative, digits, Exponent::parse(exponent).plus(-length(fraction)))
    }

    /// Brings any digits into the unique form.
    fn build(negative: bool, digits: String, exponent: Exponent) -> Self {
        let short = digits.trim_end_matches('0');
        let shift = length(&digits) - length(short);
        let digits = short.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Self::zero();
        }
        Self { negative, digits, exponent: exponent.plus(shift) }
    }

    pub(crate) fn zero() -> Self {
        Self { negative: false, digits: String::new(), exponent: Exponent::Small(0) }
    }

    /// Appends the one spelling of this number.
    ///
    /// Plain where that takes at most 40 digits (`100`, `0.0015`), otherwise all digits as an
    /// integer, `e` and the exponent (`15e-60`). Either way valid JSON, and no two ways to write
    /// one number.
    pub(crate) fn write_into(&self, out: &mut Vec<u8>) {
        if self.digits.is_empty() {
            out.push(b'0');
            return;
        }
        if self.negative {
            out.push(b'-');
        }
        let digits = self.digits.as_bytes();
        let count = length(&self.digits);
        match self.exponent {
            Exponent::Small(shift) if shift >= 0 && count + shift <= PLAIN_DIGITS => {
                out.extend_from_slice(digits);
                out.extend((0..shift).map(|_| b'0'));
            }
            Exponent::Small(shift) if shift < 0 && count.max(1 - shift) <= PLAIN_DIGITS => {
                let point = count + shift; // digits before the point, if positive
                if point > 0 {
                    let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or(0));
                    out.extend_from_slice(whole);
                    out.push(b'.');
                    out.extend_from_slice(fraction);
                } else {
                    out.extend_from_slice(b"0.");
                    out.extend((point..0).map(|_| b'0'));
                    out.extend_from_slice(digits);
                }
            }
            _ => {
                out.extend_from_slice(digits);
                out.push(b'e');
                out.extend_from_slice(self.exponent.to_string().as_bytes());
            }
        }
    }

    pub(crate) fn digit_count(&self) -> usize {
        self.digits.len()
    }

    /// The one spelling of this number, as a text.
    pub(crate) fn to_text(&self) -> String {
        let mut out = Vec::new();
        self.write_into(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// How a positive number's size compares, without its sign.
    fn compare_magnitude(&self, other: &Self) -> Ordering {
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            // Where the first digit stands; then digit by digit.
            (false, false) => (self.exponent.clone().plus(length(&self.digits)))
                .cmp(&other.exponent.clone().plus(length(&other.digits)))
                .then_with(|| self.digits.cmp(&other.digits)),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
        }
    }
}

fn length(digits: &str) -> i64 {
    i64::try_from(digits.len()).unwrap_or(i64::MAX)
}
