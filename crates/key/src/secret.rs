//! The secret that keeps low-entropy keys from being guessed.

use std::fmt;

/// The shortest secret, in bytes.
const MIN_BYTES: usize = 16;

/// A secret for the hashes in record ids and fingerprints (HMAC-SHA-256).
///
/// A key such as `order-77-v3` can be found from its hash by trying; with a secret it cannot. All
/// writers of one table need the same secret: another one is another set of records.
///
/// ```
/// use lambda_idempotency_key::Secret;
/// let secret = Secret::new("0123456789abcdef")?;
/// assert_eq!(format!("{secret:?}"), "Secret(…)");
/// assert!(Secret::new("short").is_err());
/// # Ok::<(), lambda_idempotency_key::SecretError>(())
/// ```
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Takes the bytes of a secret.
    ///
    /// # Errors
    ///
    /// [`SecretError`] if there are fewer than 16.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, SecretError> {
        let bytes = bytes.into();
        if bytes.len() < MIN_BYTES { Err(SecretError::TooShort) } else { Ok(Self(bytes)) }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Shows nothing of the secret, not even its length.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A secret cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// Fewer than 16 bytes.
    #[error("the secret has fewer than 16 bytes; use 32 random ones")]
    TooShort,
}
