use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

use crate::PATIENCE;

/// The effect of a function under test: counts its runs, and can hold one in the middle.
#[derive(Clone, Debug, Default)]
pub struct Work(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    runs: AtomicUsize,
    entered: Notify,
    go: Notify,
}

impl Work {
    /// Work that was not done yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Does it once; answers how often it was done by now.
    pub fn run(&self) -> usize {
        self.0.runs.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Does it once, but stands still before it answers until [`Work::go_on`], and at most for
    /// [`PATIENCE`]: where the library lets in whom it must not, a test is to fail and not to hang.
    pub async fn run_held(&self) -> usize {
        let run = self.run();
        self.0.entered.notify_one();
        let _ = tokio::time::timeout(PATIENCE, self.0.go.notified()).await;
        run
    }

    /// How often it was done.
    pub fn runs(&self) -> usize {
        self.0.runs.load(Ordering::SeqCst)
    }

    /// Returns when a held run stands still.
    ///
    /// # Errors
    /// When none comes.
    pub async fn entered(&self) -> Result<(), tokio::time::error::Elapsed> {
        tokio::time::timeout(PATIENCE, self.0.entered.notified()).await
    }

    /// Lets one held run go on.
    pub fn go_on(&self) {
        self.0.go.notify_one();
    }
}
