//! A clock that is moved by hand.

use std::time::Duration;

use tokio::sync::watch;

use crate::{Clock, EpochMillis};

/// A clock that is moved by hand: [`ManualClock::at`] also by whoever sleeps on it, [`ManualClock::held_at`] by
/// the test alone, which is what a test of `wait` needs.
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
pub struct ManualClock {
    now: watch::Sender<EpochMillis>,
    sleeper_moves_it: bool,
}

impl ManualClock {
    /// A clock that shows `now`. Whoever sleeps on it moves it.
    pub fn at(now: EpochMillis) -> Self {
        Self { now: watch::Sender::new(now), sleeper_moves_it: true }
    }

    /// A clock that shows `now`. Whoever sleeps on it waits until the test has moved it far enough.
    pub fn held_at(now: EpochMillis) -> Self {
        Self { sleeper_moves_it: false, ..Self::at(now) }
    }

    /// Moves the clock ahead.
    pub fn advance(&self, by: Duration) {
        self.now.send_modify(|now| *now = now.plus(by));
    }

    /// Sets the clock, also back.
    pub fn set(&self, now: EpochMillis) {
        self.now.send_replace(now);
    }
}

#[async_trait::async_trait]
impl Clock for ManualClock {
    fn now(&self) -> EpochMillis {
        *self.now.borrow()
    }

    async fn sleep(&self, duration: Duration) {
        if self.sleeper_moves_it {
            self.advance(duration);
            tokio::task::yield_now().await;
            return;
        }
        let mut now = self.now.subscribe();
        let end = self.now().plus(duration);
        // Fails only when the clock is gone, and then nobody is left to sleep.
        let _ = now.wait_for(|now| *now >= end).await;
    }
}
