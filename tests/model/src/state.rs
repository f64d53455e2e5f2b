//! What the checker tells apart.

use lambda_idempotency_core::{EpochMillis, EpochSeconds, Status};

/// The number of an attempt.
pub type Id = u8;

/// The whole world at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The true time.
    pub tick: u8,
    /// The record of the one key.
    pub record: Option<Stored>,
    /// Which life of the record this is: another one begins when a record expires.
    pub life: u8,
    /// How many runs began in this life (counted with at-most-once only).
    pub runs: u8,
    /// How many transactions were applied in this life.
    pub commits: u8,
    /// Whose claims were taken over by another attempt in this life, as a set of bits.
    pub abandoned: u8,
    /// The attempts.
    pub attempts: Vec<Attempt>,
    /// Requests that were sent and may be applied at any time, or never. Sorted.
    pub network: Vec<Request>,
    /// What has happened that must never happen.
    pub faults: Faults,
}

/// The record as the model keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stored {
    /// The `owner` attribute.
    pub owner: Option<Id>,
    /// Who really wrote it; the answer's identity. Never looked at by a decision.
    pub maker: Id,
    /// Where the work stands.
    pub status: Status,
    /// `in_progress_expiration`.
    pub lease_end: EpochMillis,
    /// `expiration`.
    pub expiration: EpochSeconds,
    /// `deadline`.
    pub deadline: Option<EpochMillis>,
    /// Whether its holder has left it to the next one.
    pub left: bool,
}

/// One attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    /// When it began.
    pub start: u8,
    /// What it is doing.
    pub phase: Phase,
    /// Resends left.
    pub resends: u8,
    /// Renewals left.
    pub renewals: u8,
    /// How often its transaction was applied.
    pub commits: u8,
    /// In which life it was applied last.
    pub committed_in: Option<u8>,
}

/// What an attempt is doing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Not delivered yet.
    Idle,
    /// It has sent a claim and waits.
    Claiming {
        /// When the claim was made.
        sent: u8,
        /// How many claims it made before.
        round: u8,
        /// Whether it was refused and now reads the record.
        reading: bool,
        /// A reply that is under way.
        reply: Option<Reply>,
    },
    /// Another is at work; it waits.
    Waiting {
        /// When it was turned away.
        since: u8,
    },
    /// The function runs.
    Running {
        /// Until when it believes it holds the claim.
        until: EpochMillis,
        /// How it came by its claim.
        by: By,
        /// The renewal that it waits for: when it was made.
        renewing: Option<u8>,
    },
    /// It has sent the final record and waits.
    Completing {
        /// When the completion was made.
        sent: u8,
        /// Whether it stores a failure.
        failure: bool,
        /// How it came by its claim.
        by: By,
        /// A reply that is under way.
        reply: Option<Reply>,
    },
    /// It is over.
    Done(Outcome),
}

/// How an attempt came by its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum By {
    /// There was nothing that counted.
    First,
    /// It took an abandoned claim over.
    Takeover,
    /// It found its own claim, the reply to which was lost.
    Recognition,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Its caller got an answer.
    Answered {
        /// Whose.
        maker: Id,
        /// In which life of the record.
        life: u8,
        /// How it came about.
        how: How,
    },
    /// Another is at work.
    Busy,
    /// Same key, other content.
    Mismatch,
    /// At-most-once, and the holder is gone.
    Interrupted,
    /// Claimable again and again.
    Inconsistent,
    /// The deadline had passed before the claim.
    DeadlinePassed,
    /// It was overtaken and there is no answer for its caller.
    LeaseLost,
    /// The function failed, and kept its claim.
    Failed,
    /// The function failed, and gave the key back.
    Released {
        /// As an abandoned claim.
        leave: bool,
    },
    /// It was stopped at its deadline, or crashed.
    Stopped,
}

/// How an answer came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// The attempt ran and its record was written.
    Executed,
    /// The record was there before.
    Replayed,
    /// The attempt ran, was overtaken, and its successor had the answer.
    Overtaken,
}

/// A request on its way. The same attempt, verb and instant are the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Request {
    /// Who sent it.
    pub from: Id,
    /// What it asks for.
    pub verb: Verb,
    /// When it was made, and so which `now` is in it.
    pub made: u8,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    /// Write a new record.
    Claim,
    /// Read the record that refused a claim.
    Read,
    /// Move the lease ahead.
    Renew,
    /// Write the final record.
    Complete {
        /// As a stored failure.
        failure: bool,
    },
    /// Give the key back.
    Release {
        /// As an abandoned claim.
        leave: bool,
    },
}

/// What the store answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// The claim was written.
    Claimed {
        /// Over an abandoned one.
        takeover: bool,
        /// Over nothing, although a claim of this life was abandoned.
        unaware: bool,
        /// In this life.
        life: u8,
    },
    /// This record was in the way.
    Refused {
        /// As it was.
        record: Stored,
        /// The instant of the condition.
        now: EpochMillis,
        /// The life it was in.
        life: u8,
    },
    /// Something was in the way, which has to be read.
    RefusedUnseen,
    /// What was in the way is gone.
    Vanished,
    /// The final record was written, in this life.
    Recorded {
        /// The life of the record.
        life: u8,
    },
    /// Another attempt's record is there.
    Overtaken {
        /// As it is.
        record: Stored,
        /// The life it is in.
        life: u8,
    },
    /// The transaction's own record would be expired on arrival.
    TooLate,
    /// One of the caller's own conditions cancelled the transaction.
    TransactionRefused,
    /// The lease now ends there.
    Renewed {
        /// When.
        until: EpochMillis,
    },
    /// The renewal was refused.
    NotRenewed,
    /// Nobody waits for more than "it was done".
    Nothing,
}

/// What has happened that must never happen, as a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults(u16);

/// One thing that must never happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Fault {
    /// A live record was changed or deleted by somebody who does not own it.
    ForeignChange = 1,
    /// A live final record was changed or deleted.
    FinalChanged = 2,
    /// Other content was let in over an unfinished claim.
    Overrun = 4,
    /// An attempt was turned away by its own claim.
    SelfBlocked = 8,
    /// A run began although this life had its answer.
    RanAfterAnswer = 16,
    /// A holder was told that its live claim is lost.
    FalseAlarm = 32,
    /// A run began as a first one although a claim before it was abandoned.
    Uninformed = 64,
}

impl Faults {
    /// Notes one.
    pub fn note(&mut self, fault: Fault) {
        self.0 |= fault as u16;
    }

    /// Whether it was noted.
    pub fn has(self, fault: Fault) -> bool {
        self.0 & fault as u16 != 0
    }
}

impl State {
    /// Puts a request on its way.
    pub fn send(&mut self, request: Request) {
        let at = self.network.partition_point(|other| *other < request);
        self.network.insert(at, request);
    }

    /// The attempt of this number.
    pub fn attempt(&self, id: Id) -> &Attempt {
        &self.attempts[usize::from(id)]
    }

    /// The attempt of this number, to change it.
    pub fn attempt_mut(&mut self, id: Id) -> &mut Attempt {
        &mut self.attempts[usize::from(id)]
    }
}
