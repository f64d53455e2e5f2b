//! Values that are new at every delivery, and therefore no key.
//!
//! The parts of an expression are followed from the input (or from a record in `Records`), through what it builds
//! and takes apart again. What a `powertools_*` function takes out of a string is the user's own, whatever its names.

mod calls;
mod known;
mod places;
mod refusal;
mod steps;
mod value;
mod walk;

use crate::expression::Expression;
use crate::expression::error::ExpressionError;
use places::Places;
use value::Value;
use walk::Walk;

/// What an expression is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Key,
    Fingerprint,
}

/// Refuses an expression that selects something volatile.
pub(crate) fn check(expression: &Expression, purpose: Purpose) -> Result<(), ExpressionError> {
    let mut walk = Walk { places: Places::new() };
    let input = Value::at(walk.places.root());
    let selected = walk.value(expression.ast(), &input);
    // Only now is it known which members are named.
    refusal::refusal(expression.as_str(), purpose, &selected, &walk.places).map_or(Ok(()), Err)
}
