//! AES-256-GCM on a key of the caller's.

use std::fmt;

use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{Aes256Gcm as Gcm, KeyInit, Nonce};

use crate::{Cipher, CipherError};

/// Bytes of a nonce (NIST SP 800-38D: 96 bits).
const NONCE: usize = 12;

/// AES-256-GCM with a random nonce for each result, which is stored before the ciphertext.
///
/// A random nonce allows about four thousand million results under one key (NIST SP 800-38D, section
/// 8.3: 2^32 invocations); change the key before that.
///
/// ```
/// use lambda_idempotency_core::{Aes256Gcm, Cipher};
///
/// # fn key_from_secrets_manager() -> [u8; 32] { [7; 32] }
/// let cipher = Aes256Gcm::new(&key_from_secrets_manager());
/// let encrypted = cipher.encrypt(b"result", b"record 1")?;
/// assert_eq!(cipher.decrypt(&encrypted, b"record 1")?, b"result");
/// assert!(cipher.decrypt(&encrypted, b"record 2").is_err());
/// # Ok::<(), lambda_idempotency_core::CipherError>(())
/// ```
#[derive(Clone)]
pub struct Aes256Gcm(Gcm);

impl Aes256Gcm {
    /// A cipher under `key`.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(Gcm::new(&(*key).into()))
    }
}

impl Cipher for Aes256Gcm {
    fn name(&self) -> &str {
        "aes-256-gcm"
    }

    fn encrypt(&self, plain: &[u8], associated: &[u8]) -> Result<Vec<u8>, CipherError> {
        let mut nonce = [0_u8; NONCE];
        getrandom::fill(&mut nonce)
            .map_err(|error| CipherError::new("the operating system gives no random bytes").source(error))?;
        let payload = Payload { msg: plain, aad: associated };
        let encrypted = self
            .0
            .encrypt(&Nonce::from(nonce), payload)
            .map_err(|_| CipherError::new("the result is too long to be encrypted"))?;
        Ok([nonce.as_slice(), &encrypted].concat())
    }

    fn decrypt(&self, encrypted: &[u8], associated: &[u8]) -> Result<Vec<u8>, CipherError> {
        let refused = || CipherError::new("another key, another record, or changed bytes");
        let (nonce, encrypted) = encrypted.split_first_chunk::<NONCE>().ok_or_else(refused)?;
        let payload = Payload { msg: encrypted, aad: associated };
        self.0.decrypt(&Nonce::from(*nonce), payload).map_err(|_| refused())
    }
}

impl fmt::Debug for Aes256Gcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Aes256Gcm(…)")
    }
}
