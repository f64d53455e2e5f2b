//! The id under which a record is stored.

use std::fmt;

use crate::hash::hash;
use crate::key::KeyValue;
use crate::name::Name;
use crate::secret::Secret;

/// What the hash begins with. Another rule for ids gets another label.
const LABEL: &[u8] = b"lambda-idempotency id 1";

/// How many hexadecimal digits a hash has.
const HASH_DIGITS: usize = 64;

/// The id of a record: `{name}#{64 hexadecimal digits}`.
///
/// The digits are SHA-256, or HMAC-SHA-256 with a secret, over a version label, the tenant (or
/// nothing) and the canonical key, each behind its length as 8 bytes, big-endian. The key itself
/// is not in it.
///
/// ```
/// use lambda_idempotency_key::{Key, Name, RecordId};
/// let key = Key::parse("id")?.of(r#"{"id": 7}"#)?;
/// let id = RecordId::new(&Name::new("orders")?, None, &key, None);
/// assert_eq!(id.name(), "orders");
/// assert_eq!(id.hash().len(), 64);
/// assert_eq!(RecordId::parse(id.as_str()), Some(id));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RecordId {
    text: String,
}

impl RecordId {
    /// The id for a key. A tenant that is `None` and one that is empty are the same.
    #[must_use]
    pub fn new(name: &Name, tenant: Option<&str>, key: &KeyValue, secret: Option<&Secret>) -> Self {
        let tenant = tenant.unwrap_or("").as_bytes();
        let hash = hash(secret, &[LABEL, tenant, key.as_str().as_bytes()]);
        Self { text: format!("{name}#{hash}") }
    }

    /// Reads a stored id. `None` if it is not one of ours.
    #[must_use]
    pub fn parse(stored: &str) -> Option<Self> {
        let (name, hash) = stored.split_once('#')?;
        Name::new(name).ok()?;
        let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (hash.len() == HASH_DIGITS && hash.bytes().all(digit)).then(|| Self { text: stored.to_owned() })
    }

    /// The whole id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The name that scopes the key.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text.split('#').next().unwrap_or("")
    }

    /// The hash: 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> &str {
        self.text.rsplit('#').next().unwrap_or("")
    }

    /// The first 8 digits of the hash, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        self.hash().get(..8).unwrap_or("")
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecordId({:?})", self.text)
    }
}
