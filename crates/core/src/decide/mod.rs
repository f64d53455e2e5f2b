//! The decisions of the claim protocol: given this record, this request and this instant, what now?
//!
//! Pure functions without I/O, clock or randomness, so that they can be read in one sitting and
//! tested exhaustively. Engine and stores only carry them out: a store's condition is
//! [`claimable`], [`may_complete`], [`may_release`] or [`may_renew`] in the store's own language.

mod classify;
mod content;
mod lease;
mod write;

pub use classify::{Claimant, Verdict, claimable, classify, retry_at};
pub use content::{Content, same_content};
pub use lease::{Deadline, LONGEST_RUN, Times, expires_at, lease_times};
pub use write::{
    Commit, Completion, Overtaken, left, may_commit, may_complete, may_release, may_renew, overtaken_by,
    renewed,
};
