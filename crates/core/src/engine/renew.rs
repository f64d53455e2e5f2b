//! A lease that is moved ahead while the function runs.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};

use super::run::{Holder, Run};
use crate::{Attempt, EpochMillis, Lease, RenewAnswer, RenewRequest, Status, StoreError};

impl Run<'_> {
    /// `body`, and the renewal of its lease where the policy asks for it.
    ///
    /// Both in one future: a task of its own would go on renewing after the body was dropped, and
    /// would wake up in a frozen environment minutes later.
    pub(super) async fn renewing<T>(
        &self,
        holder: &Holder,
        attempt: &Attempt,
        body: impl Future<Output = T>,
    ) -> T {
        let Lease::Renewed { lease, every } = self.policy().lease else { return body.await };
        match select(pin!(body), pin!(self.renew_for_ever(holder, attempt, lease, every))).await {
            Either::Left((output, _)) => output,
            Either::Right((never, _)) => match never {},
        }
    }

    async fn renew_for_ever(
        &self,
        holder: &Holder,
        attempt: &Attempt,
        lease: Duration,
        every: Duration,
    ) -> Infallible {
        let mut expiration = holder.times.expiration;
        loop {
            self.clock.sleep(every).await;
            let now = self.clock.now();
            let until = now.plus(lease);
            // Never before lease end + margin, and never earlier than it was.
            expiration = expiration.max(until.plus(self.policy().margin).ceil_seconds());
            let request = RenewRequest {
                id: holder.identity.id.clone(),
                owner: holder.owner.clone(),
                lease_end: if self.policy().at_most_once { expiration.end() } else { until },
                expiration,
                deadline: self.policy().at_most_once.then_some(until),
                now,
            };
            let error = match self.within_limit("renew", self.store.renew(&request)).await {
                Ok(RenewAnswer::Renewed) => {
                    attempt.renewed_until(until);
                    continue;
                }
                // Refused: overtaken, or an earlier try of its own was applied without an answer.
                Ok(RenewAnswer::Lost) => match self.still_holds(holder, until).await {
                    Ok(true) => {
                        attempt.renewed_until(until);
                        continue;
                    }
                    Ok(false) => break,
                    Err(error) => error,
                },
                Err(error) => error,
            };
            tracing::warn!(
                target: "lambda_idempotency",
                record_id = %request.id,
                %error,
                "the lease could not be renewed; it is tried again"
            );
            if self.clock.now() >= attempt.lease_end() {
                break;
            }
        }
        tracing::error!(
            target: "lambda_idempotency",
            record_id = %holder.identity.id,
            "the lease is lost while the function runs; its effect may happen twice"
        );
        attempt.set_lost();
        pending().await
    }

    /// Whether the record is this attempt's, with a lease that ends no earlier than `until`.
    async fn still_holds(&self, holder: &Holder, until: EpochMillis) -> Result<bool, StoreError> {
        let read = self.store.get(&holder.identity.id, self.clock.now());
        let record = self.within_limit("get", read).await?.record;
        Ok(record.is_some_and(|record| {
            record.owner.as_ref() == Some(&holder.owner)
                && record.status == Status::InProgress
                && record.deadline.or(record.lease_end).is_some_and(|end| end >= until)
        }))
    }
}
