//! What a caller is told when the function did not run, or its answer could not be kept.

use std::error::Error as StdError;

use lambda_idempotency_key::{KeyError, RecordId};

use crate::{
    EpochMillis, EpochSeconds, JsonFault, NotRecordedReason, Redacted, RefusedWrite, Status, StoreError,
};

/// Why a guarded call gave no recorded answer.
///
/// Messages say what, where and how to mend it. They never hold a payload, a raw key or a result;
/// a record is named by its id, which is a hash.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The event lacks the key. Nothing was run and the store was not asked.
    #[error("{function}: {source}")]
    MissingKey {
        /// Name of the guarded function.
        function: String,
        /// Which expression found nothing.
        source: Box<KeyError>,
    },
    /// The key or the fingerprint cannot be taken from the event. Nothing was run and the store was not asked.
    #[error("{function}: {source}")]
    InvalidKey {
        /// Name of the guarded function.
        function: String,
        /// Which expression failed, and on what.
        source: Box<KeyError>,
    },
    /// The input could not be turned into JSON text. Nothing was run and the store was not asked.
    #[error("{function}: the input cannot be written as JSON ({reason}); give `input` a value that can")]
    InvalidInput {
        /// Name of the guarded function.
        function: String,
        /// What kind of failure it was.
        reason: JsonFault,
    },
    /// The event, or the record of a batch, is not the JSON of the type that the function takes. Nothing was run
    /// and the store was not asked.
    #[error("the event does not fit {expected} ({reason}); it is refused before anything is done")]
    UnreadableEvent {
        /// The type.
        expected: String,
        /// What kind of failure it was, and where.
        reason: JsonFault,
    },
    /// The event holds several records, each of them work of its own. Nothing was run and the store was
    /// not asked.
    #[error(
        "{function}: the event holds {count} records, each of them work of its own; \
         call the annotated function for each record (`batch::sqs` does)"
    )]
    SeveralRecords {
        /// Name of the guarded function.
        function: String,
        /// How many records there are.
        count: usize,
    },
    /// The function ran unprotected, and its result has no JSON form to answer with.
    #[error("{function}: the result cannot be written as JSON ({reason})")]
    InvalidResult {
        /// Name of the guarded function.
        function: String,
        /// What kind of failure it was.
        reason: JsonFault,
    },
    /// Another attempt is at work: back off, do not acknowledge.
    #[error(
        "record {id} is in progress in another attempt; retry in {} ms at the earliest, do not acknowledge the event",
        now.until(*retry_at).as_millis()
    )]
    AlreadyInProgress {
        /// The record.
        id: RecordId,
        /// The first moment at which a retry can succeed if the holder has died.
        retry_at: EpochMillis,
        /// The instant at which the record was judged.
        now: EpochMillis,
    },
    /// The key was used before with other content. Its answer is not this caller's.
    #[error(
        "record {id} was claimed with other content under the same key (it is {status:?}); \
         new content needs a new key: raise the version in the key, or narrow `fingerprint`"
    )]
    PayloadMismatch {
        /// The record, which is untouched.
        id: RecordId,
        /// Where its work stands.
        status: Status,
        /// When it stops counting.
        expiration: EpochSeconds,
        /// The answer to the other content as JSON, where the record holds one. It is not this caller's:
        /// for somebody who has to sort the two out. `Debug` does not show it.
        stored: Redacted,
    },
    /// The invocation's deadline has passed, so that the platform is about to stop this process, or the
    /// lease has: the claim's answer took longer than it lasts. Nothing was run.
    #[error(
        "record {id} was not worked on: the deadline of this invocation, or its lease, ended {} ms ago",
        deadline.until(*now).as_millis()
    )]
    DeadlinePassed {
        /// The record that was not worked on.
        id: RecordId,
        /// The deadline, or the end of the lease.
        deadline: EpochMillis,
        /// The instant at which it was judged.
        now: EpochMillis,
    },
    /// The function ran longer than its lease, another attempt took over, and its answer is not
    /// (or not provably) the answer to this content.
    #[error(
        "record {id} was taken over while the function ran past its lease; its effect may happen twice. \
         A lease must outlast the longest run"
    )]
    LeaseLost {
        /// The record, which belongs to the other attempt.
        id: RecordId,
    },
    /// At-most-once: the earlier attempt was interrupted, and nobody knows whether its work was done.
    #[error(
        "record {id}: an earlier attempt was interrupted and may have done its work; \
         find out, then resolve the record by hand"
    )]
    Interrupted {
        /// The record, which is untouched.
        id: RecordId,
    },
    /// The function ran but its result is not recorded. Where the store did not take it, the claim stays until
    /// its lease has passed; where the result cannot be stored at all, the record says that the work is done,
    /// and replays are [`Error::ResultNotStored`].
    #[error("record {id}: the function succeeded but its result could not be recorded: {source}")]
    NotRecorded {
        /// The record.
        id: RecordId,
        /// The function's result as JSON, where it has a JSON form. `Debug` does not show it.
        value: Redacted,
        /// What was in the way.
        source: NotRecordedReason,
    },
    /// One of the function's own writes refused the transaction that was to record its result. Nothing
    /// was written; the claim was given back or kept as after a failure.
    #[error("record {id}: the transaction was refused and nothing was written: {}", list(reasons))]
    TransactionRefused {
        /// The record.
        id: RecordId,
        /// One for each write that refused.
        reasons: Vec<RefusedWrite>,
    },
    /// The work is done, but its result is not stored: it is too large for the store, the policy keeps only
    /// the marker, or it could not be written as JSON (0 bytes) or encrypted.
    #[error("record {id}: the work is done, but {} is not stored", result_of(*bytes))]
    ResultNotStored {
        /// The record.
        id: RecordId,
        /// The size of the result's JSON text in bytes.
        bytes: u64,
    },
    /// A recorded result, of this work or of the one that it continues, is kept outside of the store, at a place
    /// that did not give it. Nothing was run.
    #[error(
        "the result of record {id} could not be fetched from where it is kept, nothing was run: {source}"
    )]
    ResultUnavailable {
        /// The record, which is untouched.
        id: RecordId,
        /// What was in the way.
        source: StoreError,
    },
    /// The stored result does not fit the function's result type any more. It is neither run again nor deleted.
    #[error(
        "record {id}: the stored result does not decode as {expected} ({fault}); \
         the result type has changed since: give the function a new `name` or key, or delete the record"
    )]
    ReplayDecode {
        /// The record.
        id: RecordId,
        /// The type that the function returns.
        expected: &'static str,
        /// What kind of failure it was.
        fault: JsonFault,
    },
    /// The stored record cannot be read. It is neither run again nor deleted.
    #[error("record {id} cannot be read and was left alone: {source}")]
    CorruptRecord {
        /// The record.
        id: RecordId,
        /// Which attribute, and how to mend it.
        source: StoreError,
    },
    /// The store contradicted itself: it refused the claim because of a record that could be claimed.
    #[error(
        "record {id}: the store refused {tries} claims for a record that does not stand in the way; retry"
    )]
    InconsistentState {
        /// The record.
        id: RecordId,
        /// How many claims were tried.
        tries: u32,
    },
    /// The store gave no answer to the claim. Nothing was run. If the claim was applied all the same, it was
    /// given back as far as the store could be reached.
    #[error("record {id} could not be claimed, nothing was run: {source}")]
    Store {
        /// The record.
        id: RecordId,
        /// What was in the way.
        source: StoreError,
    },
    /// The library is not set up, or set up in a contradictory way. Nothing was run.
    #[error("{message}")]
    Config {
        /// What is wrong, where, and how to mend it.
        message: String,
    },
}

fn result_of(bytes: u64) -> String {
    match bytes {
        0 => "its result, which had no JSON form,".to_owned(),
        bytes => format!("its result of {bytes} bytes"),
    }
}

fn list(reasons: &[RefusedWrite]) -> String {
    reasons.iter().map(RefusedWrite::to_string).collect::<Vec<_>>().join(", ")
}

impl Error {
    /// The stable name of the variant, as logs, metrics and `error_type` use it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::MissingKey { .. } => "MissingKey",
            Self::InvalidKey { .. } => "InvalidKey",
            Self::InvalidInput { .. } => "InvalidInput",
            Self::UnreadableEvent { .. } => "UnreadableEvent",
            Self::SeveralRecords { .. } => "SeveralRecords",
            Self::InvalidResult { .. } => "InvalidResult",
            Self::AlreadyInProgress { .. } => "AlreadyInProgress",
            Self::PayloadMismatch { .. } => "PayloadMismatch",
            Self::DeadlinePassed { .. } => "DeadlinePassed",
            Self::LeaseLost { .. } => "LeaseLost",
            Self::Interrupted { .. } => "Interrupted",
            Self::NotRecorded { .. } => "NotRecorded",
            Self::TransactionRefused { .. } => "TransactionRefused",
            Self::ResultNotStored { .. } => "ResultNotStored",
            Self::ResultUnavailable { .. } => "ResultUnavailable",
            Self::ReplayDecode { .. } => "ReplayDecode",
            Self::CorruptRecord { .. } => "CorruptRecord",
            Self::InconsistentState { .. } => "InconsistentState",
            Self::Store { .. } => "Store",
            Self::Config { .. } => "Config",
        }
    }

    /// The name under which a Lambda function reports this error: `Idempotency` and [`Error::name`].
    pub fn error_type(&self) -> String {
        format!("Idempotency{}", self.name())
    }

    /// Whether the same event can succeed when it is delivered again, later. Not a licence to call again
    /// at once: after `LeaseLost` and `NotRecorded` the effect has happened.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::AlreadyInProgress { .. }
            | Self::DeadlinePassed { .. }
            | Self::LeaseLost { .. }
            | Self::InconsistentState { .. } => true,
            Self::NotRecorded { source, .. } => {
                matches!(source, NotRecordedReason::Store(_) | NotRecordedReason::Contradiction)
            }
            Self::Store { source, .. } | Self::ResultUnavailable { source, .. } => source.is_retryable(),
            _ => false,
        }
    }

    /// Whether another attempt is at work.
    pub fn is_already_in_progress(&self) -> bool {
        matches!(self, Self::AlreadyInProgress { .. })
    }

    /// Whether the key was used before with other content.
    pub fn is_payload_mismatch(&self) -> bool {
        matches!(self, Self::PayloadMismatch { .. })
    }

    /// The first moment at which a retry can succeed, where that is known.
    pub fn retry_at(&self) -> Option<EpochMillis> {
        match self {
            Self::AlreadyInProgress { retry_at, .. } => Some(*retry_at),
            _ => None,
        }
    }

    /// The record that this is about, where the key could be taken.
    pub fn record_id(&self) -> Option<&RecordId> {
        match self {
            Self::AlreadyInProgress { id, .. }
            | Self::PayloadMismatch { id, .. }
            | Self::DeadlinePassed { id, .. }
            | Self::LeaseLost { id }
            | Self::Interrupted { id }
            | Self::NotRecorded { id, .. }
            | Self::TransactionRefused { id, .. }
            | Self::ResultNotStored { id, .. }
            | Self::ResultUnavailable { id, .. }
            | Self::ReplayDecode { id, .. }
            | Self::CorruptRecord { id, .. }
            | Self::InconsistentState { id, .. }
            | Self::Store { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Finds this library's error in `error` or among its sources: how a caller recognises it after
    /// it has travelled through the function's own error type.
    ///
    /// A wrapper that hides it from its source chain hides it from here: `#[error(transparent)]`, and
    /// `anyhow::Error` once it was turned into a boxed error (one with `.context(…)` keeps its chain).
    ///
    /// ```
    /// use lambda_idempotency_core::Error;
    ///
    /// #[derive(Debug, thiserror::Error)]
    /// enum OrderError {
    ///     #[error("not submitted")]
    ///     Idempotency(#[from] Error),
    /// }
    ///
    /// let error = OrderError::from(Error::Config { message: "no store".into() });
    /// assert_eq!(Error::find(&error).map(Error::name), Some("Config"));
    /// ```
    pub fn find<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Error> {
        let mut next = Some(error);
        while let Some(error) = next {
            let boxed = || error.downcast_ref::<Box<Error>>().map(|ours| &**ours);
            let shared = || error.downcast_ref::<std::sync::Arc<Error>>().map(|ours| &**ours);
            if let Some(ours) = error.downcast_ref().or_else(boxed).or_else(shared) {
                return Some(ours);
            }
            next = error.source();
        }
        None
    }
}
