//! The paused time of the runtime, as a clock.

use std::time::Duration;

use lambda_idempotency_core::{Clock, EpochMillis};
use tokio::time::Instant;

use super::START;

/// Stands at [`START`] when it is made, and moves with the runtime's own time.
#[derive(Debug)]
pub struct Paused(Instant);

impl Paused {
    pub fn new() -> Self {
        Self(Instant::now())
    }

    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[async_trait::async_trait]
impl Clock for Paused {
    fn now(&self) -> EpochMillis {
        START.plus(self.elapsed())
    }
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
