//! What is said of each guarded call at its end: one log line, the observer, and whoever asked. Never a
//! payload, a raw key or a result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lambda_idempotency_key::RecordId;

use crate::observe::{self, Observation, Observer};
use crate::{Error, Outcome, RunError};

/// What is known of a call while it runs. Dropped unsaid, it says that the call was dropped.
#[derive(Debug)]
pub(super) struct Report {
    call: Observation,
    notes: Vec<String>,
    observer: Option<Arc<dyn Observer>>,
    said: bool,
}

macro_rules! line {
    ($level:ident, $report:expr) => {
        tracing::$level!(
            target: "lambda_idempotency",
            function = $report.call.function,
            record_id = $report.call.record_id.as_ref().map_or("", |id| id.as_str()),
            outcome = $report.call.outcome,
            takeover = $report.call.takeover,
            lease_lost = $report.call.lease_lost,
            given_back = $report.call.given_back,
            note = (!$report.notes.is_empty()).then(|| $report.notes.join("; ")),
            "idempotency"
        )
    };
}

#[derive(Clone, Copy)]
enum Level {
    Info,
    Warn,
    Error,
}

impl Report {
    pub(super) fn new(function: &str, observer: Option<Arc<dyn Observer>>) -> Self {
        let call = Observation {
            function: function.to_owned(),
            record_id: None,
            outcome: "Dropped",
            replay: None,
            takeover: false,
            lease_lost: false,
            lease_outlived: false,
            given_back: false,
        };
        Self { call, notes: Vec::new(), observer, said: false }
    }

    pub(super) fn id(&mut self, id: &RecordId) {
        self.call.record_id = Some(id.clone());
    }

    pub(super) fn takeover(&mut self, takeover: bool) {
        self.call.takeover = takeover;
    }

    pub(super) fn lease_lost(&mut self) {
        self.call.lease_lost = true;
    }

    pub(super) fn lease_outlived(&mut self) {
        self.call.lease_outlived = true;
        self.note("the function outlived its lease: another attempt can have done its work as well");
    }

    /// The next attempt is a real one.
    pub(super) fn given_back(&mut self) {
        self.call.given_back = true;
    }

    /// Said as a warning, whatever the outcome.
    pub(super) fn note(&mut self, note: &str) {
        self.notes.push(note.to_owned());
    }

    /// The panic goes on after this.
    pub(super) fn panicked(&mut self) {
        self.say("Panicked", Level::Error);
    }

    pub(super) fn send<T, E>(mut self, result: &Result<Outcome<T>, RunError<E>>) {
        self.call.replay = match result {
            Ok(Outcome::Replayed(_, replay)) | Err(RunError::Replayed(_, replay)) => Some(*replay),
            _ => None,
        };
        let quiet = self.notes.is_empty() && !self.call.lease_lost;
        match result {
            Ok(outcome) if quiet => self.say(outcome.name(), Level::Info),
            Ok(outcome) => self.say(outcome.name(), Level::Warn),
            Err(RunError::Idempotency(error)) => self.refused(error),
            Err(RunError::Function(_)) => self.say("FunctionFailed", Level::Warn),
            Err(RunError::Replayed(..)) => self.say("FailureReplayed", Level::Warn),
        }
    }

    fn refused(&mut self, error: &Error) {
        // Ordinary in an at-least-once world: it is how a duplicate waits.
        if let Error::AlreadyInProgress { .. } = error {
            return self.say(error.name(), Level::Info);
        }
        // Shows nothing of the input or the result, and there may be no other line that says why.
        self.note(&error.to_string());
        self.say(error.name(), Level::Error);
    }

    fn say(&mut self, outcome: &'static str, level: Level) {
        self.call.outcome = outcome;
        self.said = true;
        match level {
            Level::Info => line!(info, self),
            Level::Warn => line!(warn, self),
            Level::Error => line!(error, self),
        }
        observe::leave(&self.call);
        if let Some(observer) = &self.observer {
            // The record says what it says by now: an observer's fault must not become the caller's.
            let told = catch_unwind(AssertUnwindSafe(|| observer.observe(&self.call)));
            if told.is_err() {
                tracing::error!(target: "lambda_idempotency", ?observer, "the observer panicked");
            }
        }
    }
}

/// Says of a call that its function cannot be guarded as it is written.
#[doc(hidden)]
pub fn report_refusal(function: &str, observer: Option<Arc<dyn Observer>>, error: &Error) {
    Report::new(function, observer).refused(error);
}

impl Drop for Report {
    fn drop(&mut self) {
        if !self.said {
            self.say("Dropped", Level::Warn);
        }
    }
}
