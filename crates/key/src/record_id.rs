//! The id under which a record is stored.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::hash::hash;
use crate::key::KeyValue;
use crate::name::Name;
use crate::secret::Secret;

/// What the hash begins with. Another rule for ids gets another label.
const LABEL: &[u8] = b"lambda-idempotency id 1";

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

    /// The id whose hash another utility would write like this.
    pub(crate) fn with_digest(name: &Name, digest: &str) -> Self {
        Self { text: format!("{name}#{digest}") }
    }

    /// Reads a stored id. `None` if it is none that this library or [`Powertools`](crate::Powertools) writes.
    #[must_use]
    pub fn parse(stored: &str) -> Option<Self> {
        let (name, hash) = stored.split_once('#')?;
        Name::new(name).ok()?;
        is_hash(hash).then(|| Self { text: stored.to_owned() })
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

    /// The hash: 64 lower-case hexadecimal digits; what [`Powertools`](crate::Powertools) writes where that is used.
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

/// SHA-256 in hexadecimal digits, or any of the hashes of Powertools: 16, 32 or 64 bytes, in hexadecimal digits or
/// base64.
fn is_hash(text: &str) -> bool {
    let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    match text.len() {
        32 | 64 | 128 => text.bytes().all(digit),
        24 | 44 | 88 => STANDARD.decode(text).is_ok_and(|bytes| matches!(bytes.len(), 16 | 32 | 64)),
        _ => false,
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
