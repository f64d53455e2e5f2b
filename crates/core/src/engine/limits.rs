//! How long a store may take, before the work and after it, so that the caller still gets its answer.

use std::future::Future;
use std::time::Duration;

use super::run::{RESERVE, Run};
use crate::{Lease, StoreError, StoreErrorKind};

impl Run<'_> {
    /// What one store verb may take now: the policy's limit, or what the invocation's time left allows
    /// where that is less. Of that a little is kept, so that the error still reaches the caller; not when
    /// that little is most of it: the write matters more. When no time is left the platform decides, not
    /// we: the verb gets its full limit.
    fn verb_limit(&self) -> Duration {
        let limit = self.policy().store_timeout;
        match self.invocation.deadline.instant().map(|deadline| self.clock.now().until(deadline)) {
            Some(left) if left > RESERVE.saturating_mul(2) => limit.min(left.saturating_sub(RESERVE)),
            Some(left) if !left.is_zero() => limit.min(left),
            _ => limit,
        }
    }

    /// What a verb before the work may take: always less than the time left, so that its error still reaches
    /// the caller.
    fn limit_before_work(&self) -> Duration {
        let limit = self.policy().store_timeout;
        match self.invocation.deadline.instant().map(|deadline| self.clock.now().until(deadline)) {
            Some(left) => limit.min(left.saturating_sub(RESERVE).max(left / 2)),
            None => limit,
        }
    }

    /// Waits for a verb before the work no longer than it may take.
    pub(super) async fn before_work<T>(
        &self,
        verb: &str,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.within(self.limit_before_work(), verb, call).await
    }

    /// Waits for a verb during or after the work no longer than it may take.
    pub(super) async fn within_limit<T>(
        &self,
        verb: &str,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.within(self.verb_limit(), verb, call).await
    }

    /// As [`Run::within_limit`], and of the time left it leaves half for the completion that comes after it.
    pub(super) async fn before_completion<T>(
        &self,
        verb: &str,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let left = self.invocation.deadline.instant().map(|deadline| self.clock.now().until(deadline));
        // A lease is not renewed any more once the function has ended; this much of it is left at least.
        let lease = match self.policy().lease {
            Lease::Renewed { lease, every } => Some(lease.saturating_sub(every)),
            _ => None,
        };
        let halves = [left.filter(|left| !left.is_zero()), lease].into_iter().flatten().map(|left| left / 2);
        let half = halves.min().unwrap_or(Duration::MAX);
        self.within(self.verb_limit().min(half), verb, call).await
    }

    async fn within<T>(
        &self,
        limit: Duration,
        verb: &str,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        tokio::time::timeout(limit, call).await.unwrap_or_else(|_| {
            Err(StoreError::new(StoreErrorKind::TimedOut, format!("{verb} by {:?}", self.store))
                .code(format!("after {} ms", limit.as_millis()))
                .cure("check that the store can be reached from this function"))
        })
    }
}
