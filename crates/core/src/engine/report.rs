//! One log line for each guarded call: what became of it, under which id. Never a payload, a raw
//! key or a result.

use lambda_idempotency_key::RecordId;

use crate::{Error, Outcome, RunError};

/// What is said at the end of a call.
#[derive(Debug)]
pub(super) struct Report {
    function: String,
    id: String,
    takeover: bool,
    lease_lost: bool,
    given_back: bool,
    notes: Vec<String>,
}

macro_rules! line {
    ($level:ident, $report:expr, $outcome:expr) => {
        tracing::$level!(
            target: "lambda_idempotency",
            function = $report.function,
            record_id = $report.id,
            outcome = $outcome,
            takeover = $report.takeover,
            lease_lost = $report.lease_lost,
            given_back = $report.given_back,
            note = (!$report.notes.is_empty()).then(|| $report.notes.join("; ")),
            "idempotency"
        )
    };
}

impl Report {
    pub(super) fn new(function: &str) -> Self {
        Self {
            function: function.to_owned(),
            id: String::new(),
            takeover: false,
            lease_lost: false,
            given_back: false,
            notes: Vec::new(),
        }
    }

    pub(super) fn id(&mut self, id: &RecordId) {
        id.as_str().clone_into(&mut self.id);
    }

    pub(super) fn takeover(&mut self, takeover: bool) {
        self.takeover = takeover;
    }

    pub(super) fn lease_lost(&mut self) {
        self.lease_lost = true;
    }

    /// The function succeeded, but its result is no answer for others.
    pub(super) fn given_back(&mut self) {
        self.given_back = true;
    }

    /// Said as a warning, whatever the outcome.
    pub(super) fn note(&mut self, note: &str) {
        self.notes.push(note.to_owned());
    }

    /// The panic goes on after this.
    pub(super) fn panicked(&self) {
        line!(error, self, "Panicked");
    }

    pub(super) fn send<T, E>(&self, result: &Result<Outcome<T>, RunError<E>>) {
        match result {
            Ok(outcome) if self.notes.is_empty() && !self.lease_lost => line!(info, self, outcome.name()),
            Ok(outcome) => line!(warn, self, outcome.name()),
            // Ordinary in an at-least-once world: it is how a duplicate waits.
            Err(RunError::Idempotency(error @ Error::AlreadyInProgress { .. })) => {
                line!(info, self, error.name())
            }
            Err(RunError::Idempotency(error)) => line!(error, self, error.name()),
            Err(RunError::Function(_)) => line!(warn, self, "FunctionFailed"),
            Err(RunError::Replayed(..)) => line!(warn, self, "FailureReplayed"),
        }
    }
}
