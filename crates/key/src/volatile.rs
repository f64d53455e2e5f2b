//! Values that are new at every delivery, and therefore no key.

use crate::expression::Expression;
use crate::expression::error::ExpressionError;

/// Refuses an expression that selects something volatile.
pub(crate) fn check(expression: &Expression) -> Result<(), ExpressionError> {
    let _ = expression.ast();
    Ok(())
}
