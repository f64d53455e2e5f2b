//! Where the engine takes the time from, so that a test can be the one who decides what time it is.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::EpochMillis;

/// Wall clock and sleep. [`SystemClock`] in production; a test moves its own.
///
/// ```
/// use lambda_idempotency_core::{Clock, SystemClock};
///
/// assert!(SystemClock.now().get() > 1_700_000_000_000);
/// ```
#[async_trait::async_trait]
pub trait Clock: fmt::Debug + Send + Sync {
    /// The present instant.
    fn now(&self) -> EpochMillis;

    /// Returns when `duration` has passed on this clock.
    async fn sleep(&self, duration: Duration);
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[async_trait::async_trait]
impl Clock for SystemClock {
    fn now(&self) -> EpochMillis {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        EpochMillis::new(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

tokio::task_local! {
    static CURRENT: Arc<dyn Clock>;
}

/// The clock of this task: the one that [`scope`] set, else the machine's.
pub fn current() -> Arc<dyn Clock> {
    scoped().unwrap_or_else(|| Arc::new(SystemClock))
}

/// The clock that [`scope`] set for this task.
pub(crate) fn scoped() -> Option<Arc<dyn Clock>> {
    CURRENT.try_with(Arc::clone).ok()
}

/// Runs `future` with `clock` as the clock of every annotated function that it calls.
pub async fn scope<F: Future>(clock: Arc<dyn Clock>, future: F) -> F::Output {
    CURRENT.scope(clock, future).await
}
