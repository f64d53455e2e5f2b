//! Text that can be a secret.

use std::fmt;

/// Text that `Debug` does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Redacted(Option<String>);

impl Redacted {
    pub(crate) fn new(text: Option<String>) -> Self {
        Self(text)
    }

    /// The text itself; handle it as the secret that it may be.
    pub fn expose(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl fmt::Debug for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "<redacted>" } else { "<none>" })
    }
}
