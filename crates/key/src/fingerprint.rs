//! What was asked, as a hash.

use crate::expression::Expression;
use crate::expression::error::ExpressionError;
use crate::json::canonical::canonical;
use crate::key::KeyError;
use crate::validation::Validation;

/// What of an input is compared when its key has been seen before.
///
/// ```
/// use lambda_idempotency_key::Fingerprint;
/// let narrowed = Fingerprint::parse("order.items")?;
/// let a = narrowed.of(r#"{"order":{"items":[1]},"sent_at":"09:00"}"#)?;
/// let b = narrowed.of(r#"{"order":{"items":[1]},"sent_at":"09:05"}"#)?;
/// assert_eq!(a, b);
/// assert_eq!(Fingerprint::parse("none")?, Fingerprint::Off);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fingerprint {
    /// The whole input, less what changes with each delivery where the source is recognised.
    #[default]
    Whole,
    /// What an expression selects; nothing (`null`) is a content like any other.
    Narrowed(Expression),
    /// Nothing is compared.
    Off,
}

impl Fingerprint {
    /// `none` switches it off, `@` is the whole input, anything else is an expression. (A member
    /// called `none` is written `"none"`, with double quotes.)
    ///
    /// # Errors
    ///
    /// [`ExpressionError`] if it is no expression.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        Ok(match text.trim() {
            "none" => Self::Off,
            "@" => Self::Whole,
            _ => Self::Narrowed(Expression::parse(text)?),
        })
    }

    /// The fingerprint of an input; `None` if it is switched off.
    ///
    /// # Errors
    ///
    /// [`KeyError::Invalid`] if the input cannot be read.
    pub fn of(&self, json: &str) -> Result<Option<Validation>, KeyError> {
        let (expression, selected) = match self {
            Self::Off => return Ok(None),
            Self::Whole => ("@", canonical(json).map_err(Into::into)),
            Self::Narrowed(expression) => {
                let selection = expression.select(json);
                (
                    expression.as_str(),
                    selection.map(|selection| selection.into_canonical()),
                )
            }
        };
        match selected {
            Ok(content) => Ok(Some(Validation::new(expression, "none", &content))),
            Err(reason) => Err(KeyError::Invalid {
                expression: expression.to_owned(),
                reason,
            }),
        }
    }
}
