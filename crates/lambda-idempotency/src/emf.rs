//! Counters in CloudWatch's embedded metric format: lines of log that CloudWatch turns into metrics, with no
//! client and no call.

use std::fmt;
use std::io::{Stdout, Write, stdout};
use std::sync::{Mutex, PoisonError};

use lambda_idempotency_core::{Clock, SystemClock};
use serde_json::{Value, json};

use crate::{Observation, Observer};

/// Counts the outcome of each guarded call as a CloudWatch metric, by writing one line of JSON to the standard
/// output, which Lambda hands to CloudWatch Logs (the embedded metric format).
///
/// The metrics are [`Observation::counters`], in the namespace that is given and with the dimension `function`:
/// `Executed`, `Replayed`, `AlreadyInProgress`, … One metric for each name and function is billed.
///
/// ```
/// use lambda_idempotency::{EmfMetrics, install_observer};
///
/// install_observer(EmfMetrics::new("orders"))?;
/// # Ok::<(), lambda_idempotency::Error>(())
/// ```
pub struct EmfMetrics<W = Stdout> {
    namespace: String,
    out: Mutex<W>,
}

impl EmfMetrics {
    /// Metrics in `namespace`, to the standard output.
    pub fn new(namespace: &str) -> Self {
        Self::to(namespace, stdout())
    }
}

impl<W: Write + Send> EmfMetrics<W> {
    /// Metrics in `namespace`, to `out`.
    pub fn to(namespace: &str, out: W) -> Self {
        Self { namespace: namespace.to_owned(), out: Mutex::new(out) }
    }

    /// One line, as the specification of the format has it: the metrics are members of the root, named in
    /// `_aws.CloudWatchMetrics`, and the timestamp is in milliseconds.
    fn line(&self, call: &Observation) -> String {
        let names: Vec<&str> = call.counters().collect();
        let metrics: Vec<Value> = names.iter().map(|name| json!({"Name": name, "Unit": "Count"})).collect();
        let mut root = json!({
            "_aws": {
                "Timestamp": SystemClock.now().get(),
                "CloudWatchMetrics": [{
                    "Namespace": self.namespace,
                    "Dimensions": [["function"]],
                    "Metrics": metrics,
                }],
            },
            "function": call.function,
            "record_id": call.record_id.as_ref().map(|id| id.as_str()),
        });
        for name in names {
            root[name] = json!(1);
        }
        format!("{root}\n")
    }
}

impl<W: Write + Send> Observer for EmfMetrics<W> {
    fn observe(&self, call: &Observation) {
        let line = self.line(call);
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A log that takes nothing is no reason to fail a call.
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    }
}

impl<W> fmt::Debug for EmfMetrics<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmfMetrics").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}
