//! The numbers: what the provider's log and the workers' lines say, against what must be.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::json;

/// Calls that the provider must have seen, per order and version. The last one was killed in the
/// middle of its first call: a call that has left cannot be taken back.
const CALLS: [(&str, usize); 4] = [("77 v1", 1), ("77 v2", 1), ("78 v1", 1), ("79 v1", 2)];

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) message: String,
    pub(crate) order: String,
    pub(crate) record: String,
    pub(crate) outcome: String,
    pub(crate) takeover: bool,
    pub(crate) acknowledged: bool,
    pub(crate) expected: &'static str,
}

impl Row {
    /// An answered message is acknowledged, a refused one goes back to the queue.
    fn is_right(&self) -> bool {
        let answered = matches!(self.expected, "Executed" | "Replayed");
        self.outcome == self.expected && self.acknowledged == answered
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let takeover = if self.takeover { " (takeover)" } else { "" };
        let outcome = format!("{}{takeover}", self.outcome);
        let queue = if self.acknowledged { "acknowledged" } else { "back to the queue" };
        let hash = self.record.rsplit('#').next().unwrap_or_default();
        let wrong = if self.is_right() { String::new() } else { format!("  <- must be {}", self.expected) };
        write!(
            f,
            "{:<10} order {:<6} record …#{:.8}  {outcome:<20} {queue}{wrong}",
            self.message, self.order, hash
        )
    }
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) deliveries: usize,
    pub(crate) provider_calls: usize,
    pub(crate) calls_per_order: BTreeMap<String, usize>,
    pub(crate) rows: Vec<Row>,
}

impl Tally {
    fn count(&self, outcome: &str) -> usize {
        self.rows.iter().filter(|row| row.outcome == outcome).count()
    }

    /// Prints table and numbers; whether everything is what it must be.
    pub(crate) fn print(&self) -> bool {
        println!("\nDeliveries in the order of their answers");
        for row in &self.rows {
            println!("  {row}");
        }
        println!("Calls in the provider's log (not one result row: one call)");
        for (order, calls) in &self.calls_per_order {
            println!("  order {order:<6} {calls}");
        }

        let executed = self.count("Executed");
        let takeovers = self.rows.iter().filter(|row| row.takeover).count();
        let expected: BTreeMap<String, usize> =
            CALLS.into_iter().map(|(order, calls)| (order.to_owned(), calls)).collect();
        let checks = [
            ("every delivery came out as it must", self.rows.iter().all(Row::is_right)),
            ("every delivery was answered, but for the killed one", self.deliveries == self.rows.len() + 1),
            ("one call per order and version, and the killed one", self.calls_per_order == expected),
            ("provider_calls = executed + 1, the killed call", self.provider_calls == executed + 1),
            ("one takeover", takeovers == 1),
        ];
        println!("Checks");
        for (what, right) in checks {
            println!("  {} {what}", if right { "ok   " } else { "WRONG" });
        }
        let ok = checks.iter().all(|(_, right)| *right);
        println!(
            "{}",
            json!({
                "deliveries": self.deliveries,
                "provider_calls": self.provider_calls,
                "executed": executed,
                "replayed": self.count("Replayed"),
                "already_in_progress": self.count("AlreadyInProgress"),
                "mismatch": self.count("PayloadMismatch"),
                "takeovers": takeovers,
                "ok": ok,
            })
        );
        ok
    }
}
