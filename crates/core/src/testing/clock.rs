//! A clock that is moved by hand.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::{Clock, EpochMillis};

/// A clock that stands still until it is moved. Sleeping on it moves it.
///
/// ```
/// use lambda_idempotency_core::{Clock, EpochMillis, testing::ManualClock};
/// use std::time::Duration;
///
/// let clock = ManualClock::at(EpochMillis::new(1_900_000_000_000));
/// clock.advance(Duration::from_secs(3));
/// assert_eq!(clock.now().get(), 1_900_000_003_000);
/// ```
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows `now`.
    pub fn at(now: EpochMillis) -> Self {
        Self(AtomicI64::new(now.get()))
    }

    /// Moves the clock ahead.
    pub fn advance(&self, by: Duration) {
        self.set(self.now().plus(by));
    }

    /// Sets the clock, also back.
    pub fn set(&self, now: EpochMillis) {
        self.0.store(now.get(), Ordering::SeqCst);
    }
}

#[async_trait::async_trait]
impl Clock for ManualClock {
    fn now(&self) -> EpochMillis {
        EpochMillis::new(self.0.load(Ordering::SeqCst))
    }

    async fn sleep(&self, duration: Duration) {
        self.advance(duration);
        tokio::task::yield_now().await;
    }
}
