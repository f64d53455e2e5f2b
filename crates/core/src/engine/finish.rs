//! After the work: its result recorded and given to everybody, or the key given back.

use std::time::Duration;

use super::codec::Codec;
use super::report::Report;
use super::run::{Holder, Run};
use crate::decide::{self, Overtaken};
use crate::{
    CompleteAnswer, CompleteRequest, Error, JsonFault, NotRecordedReason, Outcome, Record, Redacted,
    ReleaseRequest, Replay, Status, StoreError,
};

/// First pause before a completion is tried again; doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// `encoding` of a record whose result was too large: this and its size in bytes.
const OMITTED: &str = "omitted:";

impl Run<'_> {
    /// Records `value` as the answer.
    pub(super) async fn complete<T, C: Codec<T>>(
        &self,
        holder: &Holder,
        value: T,
        codec: &C,
        report: &mut Report,
    ) -> Result<Outcome<C::Answer>, Error> {
        let id = || holder.identity.id.clone();
        let not_recorded = |json: Option<String>, source| {
            Err(Error::NotRecorded { id: id(), value: Redacted::new(json), source })
        };
        let json = match codec.encode(&value) {
            Ok(json) => json,
            Err(fault) => return not_recorded(None, NotRecordedReason::NotJson(fault)),
        };
        let request = self.completion(holder, &json, report);
        match self.complete_while_time_is_left(&request).await {
            Ok(CompleteAnswer::Recorded) => Ok(Outcome::Executed(codec.executed(value, &json))),
            Ok(CompleteAnswer::Overtaken { record }) => {
                report.lease_lost();
                match decide::overtaken_by(&record, holder.identity.validation.as_ref()) {
                    Overtaken::Answer => self.replay(&record, codec),
                    Overtaken::LeaseLost => Err(Error::LeaseLost { id: id() }),
                }
            }
            Ok(CompleteAnswer::Vanished) => not_recorded(Some(json), NotRecordedReason::Contradiction),
            Err(source) => not_recorded(Some(json), NotRecordedReason::Store(source)),
        }
    }

    /// The final record, built once: every retry sends the same.
    fn completion(&self, holder: &Holder, json: &str, report: &mut Report) -> CompleteRequest {
        let now = self.clock.now();
        let mut record = Record {
            id: holder.identity.id.clone(),
            expiration: decide::expires_at(self.settings.expires_after(&self.invocation), now),
            status: Status::Completed,
            lease_end: Some(holder.times.lease_end),
            owner: Some(holder.owner.clone()),
            validation: holder.identity.validation.as_ref().map(|v| v.as_str().to_owned()),
            data: Some(json.to_owned()),
            encoding: None,
            deadline: None,
        };
        if let Err(too_large) = self.store.check_size(&record) {
            let bytes = json.len();
            record.data = None;
            record.encoding = Some(format!("{OMITTED}{bytes}"));
            report.note(&format!(
                "a result of {bytes} bytes was not stored: the record would take {} bytes, the store holds {}",
                too_large.bytes, too_large.limit
            ));
        }
        CompleteRequest { record, owner: holder.owner.clone(), now }
    }

    /// The effect has happened, so the completion is worth every try that the time left allows.
    async fn complete_while_time_is_left(
        &self,
        request: &CompleteRequest,
    ) -> Result<CompleteAnswer, StoreError> {
        let give_up_at = match self.invocation.deadline.instant() {
            Some(deadline) => deadline,
            None => self.clock.now().plus(self.policy().store_timeout.saturating_mul(3)),
        };
        let mut pause = FIRST_PAUSE;
        loop {
            let has_time = self.clock.now().plus(pause) < give_up_at;
            match self.within_limit("complete", self.store.complete(request)).await {
                Err(error) if error.is_retryable() && has_time => {
                    tracing::warn!(
                        target: "lambda_idempotency",
                        record_id = %request.record.id,
                        %error,
                        "the completion is tried again"
                    );
                }
                Ok(CompleteAnswer::Vanished) if has_time => {}
                answer => return answer,
            }
            self.clock.sleep(pause).await;
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
    }

    /// Gives the key back. Nothing that goes wrong here may hide the function's own error.
    pub(super) async fn release(&self, holder: &Holder) {
        let request = ReleaseRequest { id: holder.identity.id.clone(), owner: holder.owner.clone() };
        if let Err(error) = self.within_limit("release", self.store.release(&request)).await {
            tracing::warn!(
                target: "lambda_idempotency",
                record_id = %request.id,
                %error,
                "the claim of a failed function could not be released; it holds until its lease has passed"
            );
        }
    }

    /// The answer that a final record holds.
    pub(super) fn replay<T, C: Codec<T>>(
        &self,
        record: &Record,
        codec: &C,
    ) -> Result<Outcome<C::Answer>, Error> {
        let undecodable = |fault| Error::ReplayDecode {
            id: record.id.clone(),
            expected: std::any::type_name::<T>(),
            fault,
        };
        if record.status == Status::Failed {
            return Err(undecodable(JsonFault::STORED_FAILURE));
        }
        if let Some(encoding) = &record.encoding {
            let omitted = encoding.strip_prefix(OMITTED).and_then(|bytes| bytes.parse().ok());
            return Err(match omitted {
                Some(bytes) => Error::ResultNotStored { id: record.id.clone(), bytes },
                None => undecodable(JsonFault::NEWER_ENCODING),
            });
        }
        // `status` says that it is complete; no data is the result "nothing".
        let answer = codec.replayed(record.data.as_deref().unwrap_or("null")).map_err(undecodable)?;
        Ok(Outcome::Replayed(answer, Replay { expires_at: record.expiration }))
    }
}
