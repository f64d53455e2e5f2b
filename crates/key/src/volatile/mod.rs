//! Values that are new at every delivery, and therefore no key.
//!
//! The paths of an expression are followed from the input (or from a record in `Records`). What a
//! `powertools_*` function takes out of a string is the user's own, whatever its names.

mod known;
mod walk;

use crate::expression::Expression;
use crate::expression::error::ExpressionError;

/// Refuses an expression that selects something volatile.
pub(crate) fn check(expression: &Expression) -> Result<(), ExpressionError> {
    walk::first_volatile(expression).map_or(Ok(()), Err)
}
