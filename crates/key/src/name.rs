//! The scope of a key.

use std::fmt;

/// The longest name, in bytes.
const MAX_BYTES: usize = 512;

/// The scope of a key: the same key under another name is another record.
///
/// At most 512 bytes, without `#` (which ends the name in a record id) and control characters.
///
/// ```
/// use lambda_idempotency_key::Name;
/// assert_eq!(Name::new("orders.submit")?.as_str(), "orders.submit");
/// assert!(Name::new("a#b").is_err());
/// # Ok::<(), lambda_idempotency_key::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name(String);

impl Name {
    /// Checks a name.
    ///
    /// # Errors
    ///
    /// [`NameError`] if it is empty, too long, or holds a character that it may not.
    pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
        let name = name.into();
        if name.is_empty() {
            return Err(NameError::Empty);
        }
        if name.len() > MAX_BYTES {
            return Err(NameError::TooLong { bytes: name.len() });
        }
        match name.char_indices().find(|(_, c)| *c == '#' || c.is_control()) {
            Some((offset, character)) => Err(NameError::Character { offset, character }),
            None => Ok(Self(name)),
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A name cannot scope a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// No name at all.
    #[error("the name is empty; use something stable, such as \"orders.submit\"")]
    Empty,
    /// Longer than 512 bytes.
    #[error("the name has {bytes} bytes; at most 512 are allowed")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// A `#` or a control character.
    #[error("the name has {character:?} at byte {offset}; leave out `#` and control characters")]
    Character {
        /// Where, in bytes.
        offset: usize,
        /// Which.
        character: char,
    },
}
