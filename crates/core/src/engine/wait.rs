//! Waiting for the attempt that is at work.

use std::time::Duration;

use super::Identity;
use super::claim::{Busy, Claimed, jitter, store_failed};
use super::report::Report;
use super::run::{RESERVE, Run};
use crate::decide::{self, Verdict};
use crate::{Error, InProgress, Owner};

/// Pauses between two looks: the first, and the longest.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);

impl Run<'_> {
    /// Claims, and where another attempt is at work and the policy says so, waits for what becomes of it.
    pub(super) async fn claim_or_wait(
        &self,
        identity: &Identity,
        owner: &Owner,
        report: &mut Report,
    ) -> Result<Claimed, Error> {
        let InProgress::Wait(wait) = self.policy().in_progress else {
            return self.claim(identity, owner, report).await;
        };
        let patience_ends = self.clock.now().plus(wait);
        let until = match self.invocation.deadline.instant() {
            Some(deadline) => patience_ends.min(deadline.minus(RESERVE)),
            None => patience_ends,
        };
        let mut pause = FIRST;
        let mut claimed = self.claim(identity, owner, report).await?;
        while let Claimed::Busy(_) = claimed {
            let left = self.clock.now().until(until);
            if left.is_zero() {
                break;
            }
            // Between half of the pause and all of it, so that those who wait do not look in step.
            self.clock.sleep(pause.mul_f64(0.5 + 0.5 * jitter(owner)).min(left)).await;
            pause = pause.saturating_mul(2).min(LONGEST);
            claimed = match self.look(identity, owner, report).await? {
                Some(seen) => seen,
                None => self.claim(identity, owner, report).await?,
            };
        }
        Ok(claimed)
    }

    /// One read. `None` when the record is there for the taking, which a claim has to decide.
    async fn look(
        &self,
        identity: &Identity,
        owner: &Owner,
        report: &mut Report,
    ) -> Result<Option<Claimed>, Error> {
        let reading = self.within_limit("get", self.store.get(&identity.id, self.clock.now())).await;
        let reading = reading.map_err(|source| store_failed(identity, source))?;
        let Some(record) = reading.record else { return Ok(None) };
        match decide::classify(&record, self.claimant(identity, owner), reading.now) {
            Verdict::Mine | Verdict::Claimable(_) => Ok(None),
            Verdict::Busy { retry_at } => Ok(Some(Claimed::Busy(Busy { retry_at, now: reading.now }))),
            verdict => self.refused(identity, record, verdict, reading.now, report).map(Some),
        }
    }
}
