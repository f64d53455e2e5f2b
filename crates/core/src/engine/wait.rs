//! Waiting for the attempt that is at work.

use std::time::Duration;

use super::Identity;
use super::claim::{Busy, Claimed, jitter, store_failed};
use super::report::Report;
use super::run::{RESERVE, Run};
use crate::decide::{self, Verdict};
use crate::{Error, InProgress, Owner, ReplaySource};

/// Pauses between two looks: the first, and the longest.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);

impl Run<'_> {
    /// Where another attempt is at work and the policy says so, waits for what becomes of it.
    pub(super) async fn wait(
        &self,
        busy: Busy,
        identity: &Identity,
        owner: &Owner,
        report: &mut Report,
    ) -> Result<Claimed, Error> {
        let InProgress::Wait(wait) = self.policy().in_progress else { return Ok(Claimed::Busy(busy)) };
        let patience_ends = self.clock.now().plus(wait);
        let until = match self.invocation.deadline.instant() {
            Some(deadline) => patience_ends.min(deadline.minus(RESERVE)),
            None => patience_ends,
        };
        let mut pause = FIRST;
        let mut known = busy;
        loop {
            let left = self.clock.now().until(until);
            if left.is_zero() {
                return Ok(Claimed::Busy(known));
            }
            // Between half of the pause and all of it, so that those who wait do not look in step.
            self.clock.sleep(pause.mul_f64(0.5 + 0.5 * jitter(owner)).min(left)).await;
            pause = pause.saturating_mul(2).min(LONGEST);
            let seen = match self.look(identity, owner, report).await {
                Ok(Some(seen)) => Ok(seen),
                Ok(None) => self.claim(identity, owner, report).await,
                Err(error) => Err(error),
            };
            match seen {
                Ok(Claimed::Busy(busy)) => known = busy,
                // A store that cannot be asked for a moment has not changed what is known.
                Err(Error::Store { source, .. }) if source.is_retryable() => {}
                seen => return seen,
            }
        }
    }

    /// One read. `None` when the record is there for the taking, which a claim has to decide.
    async fn look(
        &self,
        identity: &Identity,
        owner: &Owner,
        report: &mut Report,
    ) -> Result<Option<Claimed>, Error> {
        let reading = self.before_work("get", self.store.get(&identity.id, self.clock.now())).await;
        let reading = reading.map_err(|source| store_failed(&identity.id, source))?;
        let Some(record) = reading.record else { return Ok(None) };
        match decide::classify(&record, self.claimant(identity, owner), reading.now) {
            Verdict::Mine | Verdict::Claimable(_) => Ok(None),
            Verdict::Busy { retry_at } => Ok(Some(Claimed::Busy(Busy { retry_at, now: reading.now }))),
            verdict => {
                let found = (record, ReplaySource::Store);
                self.refused(identity, found, verdict, reading.now, report).map(Some)
            }
        }
    }
}
