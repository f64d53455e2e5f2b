//! The worlds in which the protocol is checked.

use std::time::Duration;

use lambda_idempotency_core::{Fingerprint, Validation};

/// The instant of tick 0 in milliseconds. Not a whole second, so that rounding matters.
pub const EPOCH_MS: i64 = 1_900_000_000_300;

/// The length of a tick in milliseconds.
pub const TICK_MS: i64 = 1000;

/// What an attempt was asked to do, and how its fingerprint was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Content x.
    X,
    /// Content y by the same rule.
    Y,
    /// Content x by an edited rule: not comparable with either.
    XEdited,
    /// Content y by the edited rule.
    YEdited,
    /// Content x without a fingerprint.
    XBare,
}

impl Content {
    /// What was really asked for. Only the properties look at it.
    pub fn truth(self) -> char {
        match self {
            Self::X | Self::XEdited | Self::XBare => 'x',
            Self::Y | Self::YEdited => 'y',
        }
    }

    /// The rule of the fingerprint; `None` where there is no fingerprint.
    pub fn rule(self) -> Option<&'static str> {
        match self {
            Self::X | Self::Y => Some("body"),
            Self::XEdited | Self::YEdited => Some("[body]"),
            Self::XBare => None,
        }
    }

    /// Whether a fingerprint can tell the two apart, and does: computed without the decisions.
    pub fn provably_differs(self, other: Self) -> bool {
        self.rule().is_some() && self.rule() == other.rule() && self.truth() != other.truth()
    }

    /// The real fingerprint.
    pub fn validation(self) -> Option<Validation> {
        let rule = Fingerprint::parse(self.rule()?).expect("a valid expression");
        rule.of(&format!(r#"{{"body":"{}"}}"#, self.truth())).expect("valid JSON")
    }
}

/// How the work of an attempt can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// A result, which is stored.
    Success,
    /// A failure that is stored as the answer.
    StoredFailure,
    /// A failure after which the key is given back.
    Release,
    /// A failure after which the claim is kept.
    Keep,
}

/// How long a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Until the deadline of the invocation, this long after its start.
    Deadline(Duration),
    /// This long from the claim, and renewed at most so many times.
    Fixed(Duration, u8),
}

/// One attempt (one delivery): its content and its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asks {
    /// What it was asked to do.
    pub content: Content,
    /// How far its clock is off, in milliseconds.
    pub skew_ms: i64,
}

/// A world.
#[derive(Clone, Debug)]
pub struct Config {
    /// What it is called in reports.
    pub name: &'static str,
    /// The attempts at the one key.
    pub attempts: Vec<Asks>,
    /// The last tick.
    pub last_tick: u8,
    /// How long a claim holds.
    pub hold: Hold,
    /// The margin before a takeover.
    pub margin: Duration,
    /// How long a final record counts.
    pub expires_after: Duration,
    /// Whether the policy is at-most-once.
    pub at_most_once: bool,
    /// Whether an attempt is stopped when its deadline or lease has passed. Otherwise it may go on: a zombie.
    pub enforced: bool,
    /// How the work can end.
    pub endings: Vec<Ending>,
    /// How often each attempt may send a request again after its reply was lost.
    pub resends: u8,
    /// How many of the attempts may do so, in their order.
    pub resenders: usize,
    /// Whether replies can be late, besides lost.
    pub late_replies: bool,
    /// Whether an attempt can crash. (One that just never acts again needs no crash.)
    pub crashes: bool,
    /// Whether the store deletes expired records on its own.
    pub sweeps: bool,
    /// Whether a refusal carries the record. Otherwise it is read afterwards.
    pub returns_record: bool,
    /// Whether conditions use the store's own clock.
    pub server_clock: bool,
    /// Whether the completion is one transaction with the caller's own writes.
    pub transactional: bool,
    /// Whether the store remembers the token of a transaction that it has applied (DynamoDB does, for ten minutes).
    pub remembers_token: bool,
    /// How often a claim is made anew when the record that refused it turned out to be claimable.
    pub rounds: u8,
    /// Whether an attempt that finds another at work waits and claims again.
    pub waits: bool,
    /// Which outcomes have to be reachable, by property name.
    pub reaches: Vec<&'static str>,
}

impl Config {
    /// A quiet world: `contents` with exact clocks, a deadline after one and a half ticks, records
    /// that outlive the run, no resends, no zombies.
    pub fn new(name: &'static str, contents: &[Content]) -> Self {
        Self {
            name,
            attempts: contents.iter().map(|&content| Asks { content, skew_ms: 0 }).collect(),
            last_tick: 5,
            hold: Hold::Deadline(Duration::from_millis(1500)),
            margin: Duration::from_secs(2),
            expires_after: Duration::from_secs(60),
            at_most_once: false,
            enforced: true,
            endings: vec![Ending::Success],
            resends: 0,
            resenders: usize::MAX,
            late_replies: false,
            crashes: false,
            sweeps: false,
            returns_record: true,
            server_clock: false,
            transactional: false,
            remembers_token: false,
            rounds: 2,
            waits: false,
            reaches: Vec::new(),
        }
    }

    /// Puts the clocks off by so many milliseconds, in the order of the attempts.
    #[must_use]
    pub fn skews(mut self, skews: &[i64]) -> Self {
        for (attempt, &skew_ms) in self.attempts.iter_mut().zip(skews) {
            attempt.skew_ms = skew_ms;
        }
        self
    }
}
