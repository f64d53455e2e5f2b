//! Exponents of any size: a JSON text may write `1e` and a million digits.

use std::cmp::Ordering;
use std::fmt;

/// Below this, an exponent is an ordinary integer.
const HUGE: i128 = 1_000_000_000_000_000_000;

/// A decimal exponent. The two forms do not overlap, so equal exponents are equal values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Exponent {
    /// Smaller than 10^18, either sign.
    Small(i64),
    /// The rest, as digits without leading zeros.
    Huge { negative: bool, digits: String },
}

impl Exponent {
    /// Reads an optional sign and digits.
    pub(crate) fn parse(text: &str) -> Self {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        Self::build(negative, digits)
    }

    fn build(negative: bool, digits: &str) -> Self {
        let digits = digits.trim_start_matches('0');
        if digits.len() <= 18 {
            let value: i64 = digits.parse().unwrap_or(0);
            return Self::Small(if negative { -value } else { value });
        }
        Self::Huge { negative, digits: digits.to_owned() }
    }

    /// The sum with a difference that comes from the length of a text.
    pub(crate) fn plus(self, delta: i64) -> Self {
        match self {
            Self::Small(value) => {
                let sum = i128::from(value) + i128::from(delta);
                match i64::try_from(sum) {
                    Ok(small) if sum.abs() < HUGE => Self::Small(small),
                    _ => Self::build(sum < 0, &sum.unsigned_abs().to_string()),
                }
            }
            Self::Huge { negative, digits } => {
                // At least 10^18, and no text is that long: the sign stays.
                let grows = negative == (delta < 0);
                Self::build(negative, &shift(&digits, delta.unsigned_abs(), grows))
            }
        }
    }
}

/// Adds to or subtracts from a number that is larger.
fn shift(digits: &str, delta: u64, grows: bool) -> String {
    let mut carry = u128::from(delta);
    let mut result: Vec<u8> = Vec::with_capacity(digits.len() + 1);
    for digit in digits.bytes().rev().map(|digit| u128::from(digit.wrapping_sub(b'0'))) {
        let (low, next) = if grows {
            ((digit + carry) % 10, (digit + carry) / 10)
        } else {
            let low = (digit + 10 - carry % 10) % 10;
            (low, carry / 10 + u128::from(digit < carry % 10))
        };
        result.push(b'0' + low as u8);
        carry = next;
    }
    while grows && carry > 0 {
        result.push(b'0' + (carry % 10) as u8);
        carry /= 10;
    }
    result.iter().rev().map(|digit| char::from(*digit)).collect()
}

impl PartialOrd for Exponent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Exponent {
    fn cmp(&self, other: &Self) -> Ordering {
        let huge = |negative: bool| {
            if negative { Ordering::Less } else { Ordering::Greater }
        };
        match (self, other) {
            (Self::Small(a), Self::Small(b)) => a.cmp(b),
            (Self::Huge { negative, .. }, Self::Small(_)) => huge(*negative),
            (Self::Small(_), Self::Huge { negative, .. }) => huge(*negative).reverse(),
            (Self::Huge { negative: a, digits: x }, Self::Huge { negative: b, digits: y }) => {
                let size = x.len().cmp(&y.len()).then_with(|| x.cmp(y));
                match (a, b) {
                    (false, false) => size,
                    (true, true) => size.reverse(),
                    _ => huge(*a),
                }
            }
        }
    }
}

impl fmt::Display for Exponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Small(value) => write!(f, "{value}"),
            Self::Huge { negative, digits } => {
                write!(f, "{}{digits}", if *negative { "-" } else { "" })
            }
        }
    }
}
