//! Every rule that a store has to keep, each as a case of its own.
//!
//! A case uses records of its own, so the suite can run on a store that is in use, as often as you
//! like. Times are seconds apart, so that a server's clock may run on meanwhile.

mod bench;
mod claim;
mod complete;
mod get;
mod races;
mod release;
mod renew;

use futures_util::future::BoxFuture;

use self::bench::Bench;
use super::Subject;

/// The outcome of one case: what is wrong, if anything.
type Verdict = Result<(), String>;
type Case = (&'static str, for<'a> fn(&'a Bench<'a>) -> BoxFuture<'a, Verdict>);

/// Fails a case with a reason.
macro_rules! ensure {
    ($condition:expr, $($reason:tt)+) => {
        if !$condition {
            return Err(format!($($reason)+));
        }
    };
}

/// A table of cases from functions, named after them.
macro_rules! cases {
    ($($case:ident),+ $(,)?) => {
        pub(super) const CASES: &[super::Case] = &[$((stringify!($case), |bench| Box::pin($case(bench)))),+];
    };
}

pub(crate) use {cases, ensure};

/// What the suite found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Report {
    /// The cases that the store passed.
    pub passed: Vec<&'static str>,
    /// The cases that it failed, and why.
    pub failed: Vec<(&'static str, String)>,
}

impl Report {
    /// Panics with every failed case, for use in a test.
    ///
    /// # Panics
    /// When a case failed.
    pub fn assert(&self) {
        let list: String = self.failed.iter().map(|(case, why)| format!("\n  {case}: {why}")).collect();
        assert!(self.failed.is_empty(), "{} of {} cases failed:{list}", self.failed.len(), self.total());
    }

    /// How many cases were run.
    pub fn total(&self) -> usize {
        self.passed.len() + self.failed.len()
    }
}

/// Runs every case on `subject`, one after the other.
pub async fn run(subject: &dyn Subject) -> Report {
    let mut report = Report { passed: Vec::new(), failed: Vec::new() };
    let all = [claim::CASES, complete::CASES, release::CASES, renew::CASES, get::CASES, races::CASES]
        .into_iter()
        .flatten();
    for (name, case) in all {
        let verdict = match Bench::new(subject) {
            Ok(bench) => case(&bench).await,
            Err(error) => Err(error),
        };
        match verdict {
            Ok(()) => report.passed.push(name),
            Err(why) => report.failed.push((name, why)),
        }
    }
    report
}
