//! What the functions `sum`, `avg`, `abs`, `ceil` and `floor` compute, exactly.

use std::cmp::Ordering;

use super::exponent::Exponent;
use super::{Decimal, length};

/// How far apart the exponents of two added numbers may lie, in digits.
const MAX_SPREAD: i64 = 10_000;

/// To how many significant digits a quotient that does not end is cut.
const QUOTIENT_DIGITS: usize = 34;

impl Decimal {
    pub(crate) fn abs(self) -> Self {
        Self { negative: false, ..self }
    }

    /// The nearest integer that is not larger.
    pub(crate) fn floor(self) -> Self {
        self.cut(true)
    }

    /// The nearest integer that is not smaller.
    pub(crate) fn ceil(self) -> Self {
        self.cut(false)
    }

    fn cut(self, down: bool) -> Self {
        if self.digits.is_empty() || self.exponent >= Exponent::Small(0) {
            return self;
        }
        // The exponent is negative, so a part of the digits, or all, lies behind the point.
        let whole = match self.exponent {
            Exponent::Small(shift) => usize::try_from(length(&self.digits) + shift).unwrap_or(0),
            Exponent::Huge { .. } => 0,
        };
        let cut = Self::build(self.negative, self.digits[..whole].to_owned(), Exponent::Small(0));
        if self.negative != down {
            return cut;
        }
        let one = Self { negative: down, digits: "1".to_owned(), exponent: Exponent::Small(0) };
        cut.plus(&one).unwrap_or(one)
    }

    /// The exact sum; `None` if the two are so far apart that it would have over 10,000 digits.
    pub(crate) fn plus(&self, other: &Self) -> Option<Self> {
        if self.digits.is_empty() {
            return Some(other.clone());
        }
        if other.digits.is_empty() {
            return Some(self.clone());
        }
        let (Exponent::Small(a), Exponent::Small(b)) = (&self.exponent, &other.exponent) else {
            return None;
        };
        let low = *a.min(b);
        let aligned = |number: &Self, exponent: i64| {
            let zeros = usize::try_from(exponent - low).ok().filter(|_| exponent - low <= MAX_SPREAD)?;
            Some(number.digits.clone() + &"0".repeat(zeros))
        };
        let (x, y) = (aligned(self, *a)?, aligned(other, *b)?);
        let (negative, digits) = if self.negative == other.negative {
            (self.negative, add(&x, &y))
        } else {
            match x.len().cmp(&y.len()).then_with(|| x.cmp(&y)) {
                Ordering::Equal => return Some(Self::zero()),
                Ordering::Greater => (self.negative, subtract(&x, &y)),
                Ordering::Less => (other.negative, subtract(&y, &x)),
            }
        };
        Some(Self::build(negative, digits, Exponent::Small(low)))
    }

    /// The quotient by a positive count: exact where it ends, else cut to 34 significant digits.
    pub(crate) fn divided_by(&self, count: u64) -> Self {
        let count = u128::from(count.max(1));
        let mut digits = String::new();
        let mut rest: u128 = 0;
        let mut source = self.digits.bytes();
        let mut exponent = self.exponent.clone();
        loop {
            let next = match source.next() {
                Some(digit) => digit - b'0',
                None if rest == 0 || digits.len() >= QUOTIENT_DIGITS.max(self.digits.len()) => {
                    break;
                }
                None => {
                    exponent = exponent.plus(-1);
                    0
                }
            };
            rest = rest * 10 + u128::from(next);
            let digit = char::from(b'0' + (rest / count) as u8);
            if !(digit == '0' && digits.is_empty()) {
                digits.push(digit);
            }
            rest %= count;
        }
        Self::build(self.negative, digits, exponent)
    }
}

/// Adds two digit strings.
fn add(x: &str, y: &str) -> String {
    column_wise(x, y, |a, b, carry| {
        let sum = a + b + carry;
        (sum % 10, sum / 10)
    })
}

/// Subtracts the smaller digit string `y` from `x`.
fn subtract(x: &str, y: &str) -> String {
    column_wise(
        x,
        y,
        |a, b, borrow| {
            if a < b + borrow { (a + 10 - b - borrow, 1) } else { (a - b - borrow, 0) }
        },
    )
}

fn column_wise(x: &str, y: &str, step: impl Fn(u8, u8, u8) -> (u8, u8)) -> String {
    let digit = |digits: &str, from_end: usize| {
        let index = digits.len().checked_sub(from_end + 1);
        index.map_or(0, |index| digits.as_bytes()[index] - b'0')
    };
    let mut carry = 0;
    let mut result = Vec::new();
    for column in 0..x.len().max(y.len()) {
        let (low, next) = step(digit(x, column), digit(y, column), carry);
        result.push(char::from(b'0' + low));
        carry = next;
    }
    if carry > 0 {
        result.push(char::from(b'0' + carry));
    }
    result.iter().rev().collect()
}
