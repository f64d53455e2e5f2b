//! Who holds a claim.

use std::fmt;

/// The token of one attempt: 128 random bits, the same over all its tries, polls and resends.
///
/// Every write after the claim is conditional on it, so that a holder that was overtaken can
/// neither complete nor delete its successor's claim.
///
/// ```
/// use lambda_idempotency_core::Owner;
///
/// let owner = Owner::random()?;
/// assert_eq!(owner.as_str().len(), 32);
/// assert_ne!(owner, Owner::random()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Owner(String);

impl Owner {
    /// What stands in a record whose holder has given it up without deleting it: nobody.
    pub const NOBODY: &str = "nobody";

    /// A fresh token from the operating system's random source.
    ///
    /// # Errors
    /// When the operating system gives no random bytes. A weaker source is never used: two
    /// attempts with one token would take each other for the same.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(format!("{:032x}", u128::from_be_bytes(bytes))))
    }

    /// A token as a record holds it, or one that the caller chose (a stable execution id, say).
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The token as it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Owner({})", self.0)
    }
}
