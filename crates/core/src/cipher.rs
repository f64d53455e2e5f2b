//! Encryption of stored results.

use std::error::Error as StdError;
use std::fmt;

/// Encrypts what of a result rests in the store, under a key that the store does not have.
///
/// Each ciphertext is bound to its record: the associated data are the store's location (the table),
/// the record's id, its owner and its fingerprint, so that one row's result cannot be moved to another.
pub trait Cipher: fmt::Debug + Send + Sync {
    /// Names the cipher in the record's `encoding`: letters, digits and hyphens. Readers find the cipher
    /// that wrote a record by it.
    fn name(&self) -> &str;

    /// Encrypts.
    ///
    /// # Errors
    /// When it cannot; the result is then not recorded.
    fn encrypt(&self, plain: &[u8], associated: &[u8]) -> Result<Vec<u8>, CipherError>;

    /// Decrypts what [`Cipher::encrypt`] made of the same associated data.
    ///
    /// # Errors
    /// When key or associated data are others, or the bytes were changed.
    fn decrypt(&self, encrypted: &[u8], associated: &[u8]) -> Result<Vec<u8>, CipherError>;
}

/// A result could not be encrypted or decrypted.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CipherError {
    message: String,
    #[source]
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl CipherError {
    /// An error that says what went wrong, without the text that was at hand.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// Keeps the cipher's own error.
    #[must_use]
    pub fn source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}
