//! A result into a record and out of it again: in the record itself, elsewhere, or not at all.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;

use super::encoding::{Encoding, Stored, leave_out};
use super::report::Report;
use super::run::Run;
use crate::{
    CipherError, Error, JsonFault, Object, Offload, Owner, Previous, Record, Redacted, StoreError,
    StoreErrorKind,
};

/// How often a place is asked to take a result, and the first pause between, doubled each time.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(50);

/// What became of a recorded result.
pub(super) enum Kept<'a> {
    /// Its JSON text.
    Json(Cow<'a, str>),
    /// It is not stored; the size of its JSON text in bytes.
    Nothing(u64),
    /// It is there, and cannot be read here.
    Unreadable(JsonFault),
}

impl Run<'_> {
    pub(super) fn encoding(&self) -> Encoding<'_> {
        let cipher = self.settings.cipher_ref();
        let native = self.policy().powertools.is_some_and(|other| other.stores_native_values());
        Encoding { mode: self.policy().result_mode, cipher, location: self.store.location(), native }
    }

    /// Puts `json` into a record, which is otherwise complete, or where it belongs.
    pub(super) async fn keep(
        &self,
        record: &mut Record,
        owner: &Owner,
        json: &str,
        report: &mut Report,
    ) -> Result<(), CipherError> {
        let Some(packed) = self.encoding().pack(record, json)? else {
            leave_out(record, json);
            return Ok(());
        };
        packed.inline(record);
        let fits = self.store.check_size(record);
        let is_over = self.policy().offload_over.is_some_and(|most| packed.bytes.len() > most);
        if fits.is_ok() && !is_over {
            return Ok(());
        }
        if let Some(place) = self.settings.offload_ref() {
            let (id, expiration) = (&record.id, record.expiration);
            let object = Object { id, owner, expiration, bytes: &packed.bytes };
            match self.put(place, object).await {
                Ok(reference) => {
                    let inline = record.clone();
                    packed.elsewhere(record, place.name(), reference);
                    if self.store.check_size(record).is_ok() {
                        return Ok(());
                    }
                    report.note("a result was not offloaded: the store does not hold its reference");
                    *record = inline;
                }
                Err(error) => report.note(&format!("a result was not offloaded: {error}")),
            }
        }
        if let Err(too_large) = fits {
            leave_out(record, json);
            report.note(&format!(
                "a result of {} bytes was not stored: the record would take {} bytes, the store holds {}",
                json.len(),
                too_large.bytes,
                too_large.limit
            ));
        }
        Ok(())
    }

    /// Puts a result elsewhere: a few tries in half of the time left. A place that panics has not taken it.
    async fn put(&self, place: &dyn Offload, object: Object<'_>) -> Result<String, StoreError> {
        let tries = async {
            let mut pause = PAUSE;
            for _ in 1..TRIES {
                match place.put(object).await {
                    Err(error) if error.is_retryable() => self.clock.sleep(pause).await,
                    answer => return answer,
                }
                pause = pause.saturating_mul(2);
            }
            place.put(object).await
        };
        let put = AssertUnwindSafe(self.before_completion("put", tries)).catch_unwind().await;
        put.unwrap_or_else(|_| {
            let what = format!("put by {place:?}");
            Err(StoreError::new(StoreErrorKind::Other, what).code("it panicked"))
        })
    }

    /// The result of a final record, fetched from where it is.
    ///
    /// # Errors
    /// [`Error::ResultUnavailable`] when the place does not answer.
    pub(super) async fn kept<'r>(&self, record: &'r Record) -> Result<Kept<'r>, Error> {
        let (place, reference, bytes, steps) = match self.encoding().get(record) {
            Ok(Stored::Json(json)) => return Ok(Kept::Json(json)),
            Ok(Stored::Omitted(bytes)) => return Ok(Kept::Nothing(bytes)),
            Ok(Stored::Elsewhere { place, reference, bytes, steps }) => (place, reference, bytes, steps),
            Err(fault) => return Ok(Kept::Unreadable(fault)),
        };
        let Some(offload) = self.settings.offload_ref().filter(|offload| offload.name() == place) else {
            return Ok(Kept::Unreadable(JsonFault::UNKNOWN_ENCODING));
        };
        let unavailable = |source: StoreError| Error::ResultUnavailable { id: record.id.clone(), source };
        match self.before_work("fetch", offload.get(reference)).await.map_err(unavailable)? {
            None => Ok(Kept::Nothing(bytes)),
            Some(object) => Ok(match self.encoding().unpack(record, steps, object) {
                Ok(json) => Kept::Json(Cow::Owned(json)),
                Err(fault) => Kept::Unreadable(fault),
            }),
        }
    }

    /// What is recorded of the work that this one continues.
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::CorruptRecord`] or [`Error::ResultUnavailable`] when it cannot be read.
    pub(super) async fn previous(&self, identity: &super::Identity) -> Result<Option<Previous>, Error> {
        let Some(id) = &identity.previous else { return Ok(None) };
        let read = self.before_work("get", self.store.get(id, self.clock.now())).await;
        let Some(record) = read.map_err(|source| super::claim::store_failed(id, source))?.record else {
            return Ok(None);
        };
        let json = match record.status.is_final() {
            true => match self.kept(&record).await? {
                Kept::Json(json) => Some(json.into_owned()),
                Kept::Nothing(_) => None,
                Kept::Unreadable(fault) => {
                    let id = record.id.clone();
                    return Err(Error::ReplayDecode { id, expected: "the previous result", fault });
                }
            },
            false => None,
        };
        let Record { id, status, stored_at, .. } = record;
        Ok(Some(Previous { id, status, stored_at, json: Redacted::new(json) }))
    }
}
