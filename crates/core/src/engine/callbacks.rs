//! The user's callbacks about results, which can panic like any other code.
//!
//! When `store_if` or `on_error` is asked, the function has run: its effect has happened, or can have. Its claim
//! is therefore kept when they panic, whatever the policy says of a function's own panic: what the callback
//! would have said is not known, and a key that is given back has the effect repeated at the next delivery, by
//! an attempt that is told of no one before it. As after `NotRecorded`, the lease protects, and whoever comes
//! after it knows itself as a takeover. `on_replay` sees a record that is final, so nothing changes.
//!
//! The panic goes on in each case: it is a mistake that somebody has to see.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::report::Report;

/// What `callback`, the user's `name`, says. Its panic goes on, with a note in the call's line.
pub(super) fn ask<T>(name: &str, report: &mut Report, callback: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(callback)).unwrap_or_else(|panic| {
        report.note(&format!("`{name}` panicked after the function had run: its claim is kept"));
        resume_unwind(panic)
    })
}
