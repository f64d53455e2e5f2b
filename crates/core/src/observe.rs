//! What became of one guarded call, for metrics and for whoever wants to tell its caller.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use lambda_idempotency_key::RecordId;

use crate::Replay;

/// What became of one guarded call. Never a payload, a raw key or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Observation {
    /// Name of the guarded function: the scope of its key.
    pub function: String,
    /// The record; `None` where the call has none.
    pub record_id: Option<RecordId>,
    /// A name of [`Outcome`](crate::Outcome) or [`Error`](crate::Error), or `FunctionFailed`,
    /// `FailureReplayed`, `Panicked`, `Dropped` (its future was dropped before it had ended).
    pub outcome: &'static str,
    /// Where the recorded answer came from; `None` unless it was replayed.
    pub replay: Option<Replay>,
    /// An abandoned claim was taken over: its work may have been done in part.
    pub takeover: bool,
    /// Another attempt has, or had, the record: the effect may have happened twice.
    pub lease_lost: bool,
    /// The function ran beyond its lease and the margin: another attempt can have done its work as well.
    pub lease_outlived: bool,
    /// The function failed, or its result is no answer for others, and the key was given back: the next attempt is a
    /// real one.
    pub given_back: bool,
}

impl Observation {
    /// The names that are counted up by this call: the outcome, and beside it `TakenOver`, `LeaseLost`
    /// and `LeaseOutlived`. Alarm on the last two: an effect may have happened twice.
    ///
    /// ```
    /// use lambda_idempotency_core::{Engine, Key, MemoryStore, observed};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let engine = Engine::new("orders.submit", MemoryStore::new(), Key::parse("id")?)?;
    /// let order = serde_json::json!({"id": 77});
    /// let (_, seen) = observed(engine.run(&order, |_| async { Ok::<_, std::io::Error>(1) })).await;
    /// assert_eq!(seen.map(|seen| seen.counters().collect()), Some(vec!["Executed"]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn counters(&self) -> impl Iterator<Item = &'static str> + use<> {
        let beside = [
            (self.takeover, "TakenOver"),
            (self.lease_lost && self.outcome != "LeaseLost", "LeaseLost"),
            (self.lease_outlived, "LeaseOutlived"),
        ];
        let beside = beside.into_iter().filter_map(|(is_so, name)| is_so.then_some(name));
        std::iter::once(self.outcome).chain(beside)
    }

    /// Whether the function did not run because the answer (or its failure) was recorded: what to tell a
    /// caller as `idempotency_hit`.
    pub fn is_replay(&self) -> bool {
        self.replay.is_some()
    }
}

/// Is told of each guarded call at its end: a counter, a metrics library.
pub trait Observer: fmt::Debug + Send + Sync {
    /// Takes note of one call. It is on the path of the answer: do not block here.
    fn observe(&self, call: &Observation);
}

/// Where the last observation is left.
pub(crate) type Seen = Arc<Mutex<Option<Observation>>>;

tokio::task_local! {
    static SEEN: Seen;
}

/// What [`observed`] has put around this task.
pub(crate) fn seen() -> Option<Seen> {
    SEEN.try_with(Arc::clone).ok()
}

/// Runs `future` with its observations left in `seen`.
pub(crate) async fn with_seen<F: Future>(seen: Seen, future: F) -> F::Output {
    SEEN.scope(seen, future).await
}

/// Runs `future` and says what became of the guarded call in it, so that its caller can be told that an
/// answer is a replay. Of several calls the last to end: of nested ones the outermost.
///
/// `None` when there was none in this task; what the future spawns goes unseen.
///
/// ```
/// use lambda_idempotency_core::{Engine, Key, MemoryStore, observed};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::new("orders.submit", MemoryStore::new(), Key::parse("id")?)?;
/// let order = serde_json::json!({"id": 77});
/// for hit in [false, true] {
///     let (run, seen) = observed(engine.run(&order, |_| async { Ok::<_, std::io::Error>("run-1".to_owned()) })).await;
///     let answer = serde_json::json!({
///         "run_id": run?.into_value(),
///         "idempotency_hit": seen.is_some_and(|seen| seen.is_replay()),
///     });
///     assert_eq!(answer, serde_json::json!({"run_id": "run-1", "idempotency_hit": hit}));
/// }
/// # Ok(())
/// # }
/// ```
pub async fn observed<F: Future>(future: F) -> (F::Output, Option<Observation>) {
    let seen = Arc::new(Mutex::new(None));
    let output = with_seen(Arc::clone(&seen), future).await;
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).take();
    (output, seen)
}

/// Leaves the observation for [`observed`] around it.
pub(crate) fn leave(call: &Observation) {
    let _ = SEEN.try_with(|seen| {
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(call.clone());
    });
}
