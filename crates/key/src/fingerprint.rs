//! What was asked, as a hash.

use crate::expression::Expression;
use crate::expression::error::ExpressionError;
use crate::expression::select::SelectError;
use crate::json::error::CanonicalError;
use crate::key::KeyError;
use crate::secret::Secret;
use crate::source::{self, Source};
use crate::validation::Validation;
use crate::volatile::{self, Purpose};

/// The expression in the rule of a fingerprint of everything.
const WHOLE: &str = "@";

/// The word that switches it off.
const OFF: &str = "none";

/// The source in the rule where none is recognised, or where it does not matter.
const UNRECOGNISED: &str = "none";

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
    /// The whole input, less what changes with each delivery where the source is recognised, as
    /// the table in [`source`](crate::source) says.
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
    /// What is new at every delivery is refused, as in a [`Key`](crate::Key): each redelivery would be other content.
    ///
    /// # Errors
    ///
    /// [`ExpressionError`] if it is no expression, is `none` in other letters, or selects what is new at every
    /// delivery.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        match text.trim() {
            OFF => return Ok(Self::Off),
            WHOLE => return Ok(Self::Whole),
            word if word.eq_ignore_ascii_case(OFF) => {
                let problem = "this is a member's name, and looks like `none`";
                let cure = "write `none` to compare nothing, or the member in double quotes";
                return Err(ExpressionError::new(text, 0, problem).with_cure(cure));
            }
            _ => {}
        }
        let expression = Expression::parse(text)?;
        volatile::check(&expression, Purpose::Fingerprint)?;
        Ok(Self::Narrowed(expression))
    }

    /// The fingerprint of an input; `None` if it is switched off.
    ///
    /// # Errors
    ///
    /// [`KeyError::InvalidFingerprint`] if the input cannot be read.
    pub fn of(&self, json: &str) -> Result<Option<Validation>, KeyError> {
        self.of_with(json, None)
    }

    /// As [`Fingerprint::of`], with a secret: without it, an input with little in it
    /// (`{"order_id":77,"version":3}`) could be found from its fingerprint by trying, and the key with it.
    ///
    /// # Errors
    ///
    /// As [`Fingerprint::of`].
    pub fn of_with(&self, json: &str, secret: Option<&Secret>) -> Result<Option<Validation>, KeyError> {
        let taken = match self {
            Self::Off => return Ok(None),
            Self::Whole => whole(json).map_err(SelectError::from),
            // A narrowed rule says itself what is compared, so the source does not matter.
            Self::Narrowed(expression) => {
                expression.select(json).map(|selection| (UNRECOGNISED, selection.into_canonical()))
            }
        };
        let expression = match self {
            Self::Narrowed(expression) => expression.as_str(),
            Self::Whole | Self::Off => WHOLE,
        };
        match taken {
            Ok((source, content)) => Ok(Some(Validation::new(expression, source, &content, secret))),
            Err(reason) => Err(KeyError::InvalidFingerprint { expression: expression.to_owned(), reason }),
        }
    }
}

/// The name of the source, and what of the input is compared.
fn whole(json: &str) -> Result<(&'static str, String), CanonicalError> {
    let (source, content) = source::content(json)?;
    Ok((source.map_or(UNRECOGNISED, Source::name), content))
}
