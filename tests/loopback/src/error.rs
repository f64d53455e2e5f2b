use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What can go wrong with the parts themselves; what a *function* does wrong is an [`crate::Answer`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// The system's answer.
        source: io::Error,
    },
    /// A worker ended, reported an error or stayed silent before it asked for its first event.
    #[error("{} did not start: {reason}\n{output}", binary.display())]
    Init {
        /// The worker's executable.
        binary: PathBuf,
        /// What happened instead of the first poll.
        reason: String,
        /// Everything the worker printed.
        output: String,
    },
    /// An event that was awaited did not come.
    #[error("{event} did not come within {after:?}")]
    TimedOut {
        /// What was awaited.
        event: String,
        /// For how long.
        after: Duration,
    },
    /// The part was stopped while something was awaited from it.
    #[error("stopped before {0}")]
    Stopped(String),
    /// Cargo could not build the binary.
    #[error("cargo build: {0}")]
    Build(String),
    /// The DynamoDB endpoint refused a request.
    #[error("DynamoDB: {0}")]
    DynamoDb(String),
}

impl Error {
    /// Turns an [`io::Error`] into ours, with what was being done.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let doing = doing.into();
        move |source| Error::Io { doing, source }
    }
}

/// Locks, whether or not another holder panicked: a failed test must not hide behind a poisoned lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
