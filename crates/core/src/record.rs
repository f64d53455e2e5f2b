//! The stored row.

use std::fmt;

use lambda_idempotency_key::RecordId;

use crate::{EpochMillis, EpochSeconds, Owner};

/// Where the work of a record stands. It alone decides completeness, never the presence of `data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// A holder is at work, or died at it.
    InProgress,
    /// The work is done and its result is the answer.
    Completed,
    /// The work failed and that failure is the answer.
    Failed,
}

impl Status {
    /// The word that is stored: `INPROGRESS` and `COMPLETED` are those of Powertools for AWS Lambda.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "INPROGRESS",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
        }
    }

    /// The status that `word` stands for; `None` for any other word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::InProgress, Self::Completed, Self::Failed].into_iter().find(|status| status.as_str() == word)
    }

    /// Whether the record is an answer.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::InProgress)
    }
}

/// One record, as every store holds it.
///
/// `Debug` shows everything but the result.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    /// `{name}#{hash of the key}`.
    pub id: RecordId,
    /// The last second in which the record counts. A record that is past it does not exist.
    pub expiration: EpochSeconds,
    /// Where the work stands.
    pub status: Status,
    /// `in_progress_expiration`: when the holder's lease ends. Meaningless once the status is final.
    pub lease_end: Option<EpochMillis>,
    /// The attempt that holds or held the record. Absent in records of other writers.
    pub owner: Option<Owner>,
    /// The fingerprint of the content, written at the claim and kept.
    pub validation: Option<String>,
    /// The result as JSON text, or as `encoding` says.
    pub data: Option<String>,
    /// How `data` is to be read; absent for plain JSON text. [`Record::NATIVE`] for what a store does not keep as
    /// text.
    pub encoding: Option<String>,
    /// With at-most-once: the end of the holder's lease, after which it is taken for interrupted.
    pub deadline: Option<EpochMillis>,
    /// When a final record was made, by the clock of the attempt that completed it. Absent in records of
    /// other writers.
    pub stored_at: Option<EpochMillis>,
}

impl Record {
    /// The `encoding` of JSON text that a store is to keep in its own types, or read from them: as Powertools for
    /// TypeScript keeps results in DynamoDB. There it is not written, and told by the types; a store without types of
    /// its own keeps text and encoding as they are.
    pub const NATIVE: &str = "native";
    /// The `encoding` of JSON text that a store's own types cannot hold.
    pub const JSON: &str = "json";

    /// Whether its last holder took it over, failed, and left it for the next one.
    pub fn is_left(&self) -> bool {
        let nobody = self.owner.as_ref().is_some_and(|owner| owner.as_str() == Owner::NOBODY);
        self.status == Status::InProgress && nobody
    }

    /// Whether the record has stopped counting at `now`.
    pub fn is_expired(&self, now: EpochMillis) -> bool {
        self.expiration < now.floor_seconds()
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("id", &self.id.as_str())
            .field("expiration", &self.expiration.get())
            .field("status", &self.status)
            .field("lease_end", &self.lease_end.map(EpochMillis::get))
            .field("owner", &self.owner)
            .field("validation", &self.validation)
            .field("data", &self.data.as_ref().map(|data| format!("<{} bytes>", data.len())))
            .field("encoding", &self.encoding)
            .field("deadline", &self.deadline.map(EpochMillis::get))
            .field("stored_at", &self.stored_at.map(EpochMillis::get))
            .finish()
    }
}
