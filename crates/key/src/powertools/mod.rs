//! Record ids and validation hashes as Powertools for AWS Lambda makes them in other languages, for tables that
//! it wrote.
//!
//! Its ids are a hash of JSON as the runtime's own library spells it: other bytes in every language.

mod allowed;
mod numbers;
mod python;
mod spell;
mod typescript;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use sha2::{Sha256, Sha512};

use crate::expression::Expression;
use crate::expression::select::{SelectError, Selection};
use crate::fingerprint::Fingerprint;
use crate::hash::hex;
use crate::key::{Key, KeyError};
use crate::name::Name;
use crate::record_id::RecordId;
use crate::validation::Validation;

/// How Powertools for AWS Lambda makes the ids of its records, in one of its languages.
///
/// For a function that takes over the table of one written in Python or TypeScript, or shares it: the same key
/// expression on the same event gives the id that the other one wrote. Compared with records that Powertools for
/// Python 3.37 and for TypeScript 2.35 wrote.
///
/// It carries the weaknesses of the original along: MD5 by default, ids that can be found by trying, numbers
/// beyond 2^53 that TypeScript rounds (and so takes for one another). A fingerprint of the whole input turns what is
/// taken for one another into a mismatch.
///
/// Where the two would not agree there is an error instead of an id that finds nothing: an expression with a
/// function whose result differs between the languages (arithmetic, `to_string`, `keys`, sorting), an object
/// with a member twice or, for TypeScript, one called `__proto__`, half of a surrogate pair. Missing keys are
/// refused as they are without it.
///
/// ```
/// use lambda_idempotency_key::{Key, Name, Powertools};
/// let name = Name::new("orders.app.handler")?;
/// let key = Key::parse("user_id")?;
/// let id = Powertools::python().record_id(&name, &key, r#"{"user_id": "u-1"}"#)?;
/// assert_eq!(id.as_str(), "orders.app.handler#10f26c3616ad9e875bf989e28557f7a1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Powertools {
    language: Language,
    hash: PowertoolsHash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Language {
    Python,
    TypeScript,
}

/// The hash of an id (`hash_function` in Python, `hashFunction` in TypeScript).
///
/// ```
/// use lambda_idempotency_key::{Key, Name, Powertools, PowertoolsHash};
/// let key = Key::parse("id")?;
/// let sha256 = Powertools::python().hash(PowertoolsHash::Sha256);
/// assert_eq!(sha256.record_id(&Name::new("orders")?, &key, r#"{"id": 7}"#)?.hash().len(), 64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PowertoolsHash {
    /// MD5, the default of both.
    #[default]
    Md5,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

impl Powertools {
    /// As the utility for Python does.
    #[must_use]
    pub const fn python() -> Self {
        Self { language: Language::Python, hash: PowertoolsHash::Md5 }
    }

    /// As the utility for TypeScript does.
    #[must_use]
    pub const fn typescript() -> Self {
        Self { language: Language::TypeScript, hash: PowertoolsHash::Md5 }
    }

    /// With the hash function that the other function was configured with.
    #[must_use]
    pub const fn hash(self, hash: PowertoolsHash) -> Self {
        Self { hash, ..self }
    }

    /// Whether results are kept in DynamoDB's own types (TypeScript), and not as JSON text (Python).
    #[must_use]
    pub const fn stores_native_values(self) -> bool {
        matches!(self.language, Language::TypeScript)
    }

    /// Whether every language selects the same by this key.
    ///
    /// ```
    /// use lambda_idempotency_key::{Key, Powertools};
    /// assert!(Powertools::python().check_key(&Key::parse("[id, version]")?).is_ok());
    /// let told = Powertools::python().check_key(&Key::parse("sum(items[*].price)")?).unwrap_err().to_string();
    /// assert!(told.contains("`sum(items[*].price)` depends on how a language calculates"));
    /// # Ok::<(), lambda_idempotency_key::ExpressionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`KeyError::Invalid`] with the part on which they do not agree.
    pub fn check_key(self, key: &Key) -> Result<(), KeyError> {
        Self::check(key.expression())
    }

    /// Whether every language selects the same by this fingerprint.
    ///
    /// # Errors
    ///
    /// [`KeyError::Invalid`] with the part on which they do not agree.
    pub fn check_fingerprint(self, fingerprint: &Fingerprint) -> Result<(), KeyError> {
        match fingerprint {
            Fingerprint::Narrowed(expression) => Self::check(expression),
            Fingerprint::Whole | Fingerprint::Off => Ok(()),
        }
    }

    fn check(expression: &Expression) -> Result<(), KeyError> {
        allowed::check(expression)
            .map_err(|reason| KeyError::Invalid { expression: expression.as_str().to_owned(), reason })
    }

    /// The id of the record of an input. `name` is what its ids have before the `#`: `key_prefix` if that is set,
    /// else the Lambda function's name, in Python with a point and the function's module and qualified name.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the input has no usable key, or one that the other language would spell in a way of its own.
    pub fn record_id(self, name: &Name, key: &Key, json: &str) -> Result<RecordId, KeyError> {
        let text = key.taken(self.select(key.expression(), json))?;
        Ok(RecordId::with_digest(name, &self.digest(&text)))
    }

    /// The fingerprint of an input, as `payload_validation_jmespath` makes it. Where none is given (`None`), as where the
    /// other one validates nothing, it is this library's own of the whole input, with which records of Powertools do
    /// not compare.
    ///
    /// ```
    /// use lambda_idempotency_key::{Fingerprint, Powertools};
    /// let amount = Fingerprint::parse("amount")?;
    /// let validation = Powertools::python().validation(Some(&amount), r#"{"amount": 12.5}"#)?;
    /// assert_eq!(validation.as_ref().map(|it| it.as_str()), Some("cf3e481a44141cabd4e9d46cfbb1f899"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`KeyError::InvalidFingerprint`] if the input cannot be read, or the other language would spell it in a way of its own.
    pub fn validation(
        self,
        fingerprint: Option<&Fingerprint>,
        json: &str,
    ) -> Result<Option<Validation>, KeyError> {
        let everything;
        let expression = match fingerprint {
            None => return Fingerprint::Whole.of(json),
            Some(Fingerprint::Off) => return Ok(None),
            Some(Fingerprint::Narrowed(expression)) => expression,
            Some(Fingerprint::Whole) => {
                everything = Expression::everything();
                &everything
            }
        };
        let invalid =
            |reason| KeyError::InvalidFingerprint { expression: expression.as_str().to_owned(), reason };
        let selection = self.select(expression, json).map_err(invalid)?;
        Ok(Some(Validation::bare(self.digest(&selection.into_canonical()))))
    }

    fn select(self, expression: &Expression, json: &str) -> Result<Selection, SelectError> {
        allowed::check(expression)?;
        expression.select_shared(json, |node| match self.language {
            Language::Python => spell::spell::<python::Python>(node),
            Language::TypeScript => spell::spell::<typescript::TypeScript>(node),
        })
    }

    fn digest(self, text: &str) -> String {
        let bytes = match self.hash {
            PowertoolsHash::Md5 => Md5::digest(text).to_vec(),
            PowertoolsHash::Sha256 => Sha256::digest(text).to_vec(),
            PowertoolsHash::Sha512 => Sha512::digest(text).to_vec(),
        };
        match self.language {
            Language::Python => hex(&bytes),
            Language::TypeScript => STANDARD.encode(bytes),
        }
    }
}
