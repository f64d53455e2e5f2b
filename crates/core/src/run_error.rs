//! This library's errors and the function's own, side by side.

use crate::{Error, Replay};

/// Why [`Engine::run`](crate::Engine::run) gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// This library refused, or could not record. Not transparent: [`Error::find`] has to find it.
    #[error("{0}")]
    Idempotency(#[from] Error),
    /// The function itself failed.
    #[error("the function failed: {0}")]
    Function(E),
    /// The function failed before, and that failure is the recorded answer.
    #[error("the function failed before, and its failure is recorded: {0}")]
    Replayed(E, Replay),
}

impl<E: From<Error>> RunError<E> {
    /// The function's own error type, which can hold both.
    pub fn flatten(self) -> E {
        match self {
            Self::Idempotency(error) => error.into(),
            Self::Function(error) | Self::Replayed(error, _) => error,
        }
    }
}
