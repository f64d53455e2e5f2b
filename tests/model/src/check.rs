//! Running the checker and reading its findings.

use std::fmt;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use stateright::{Checker, HasDiscoveries, Model};

use crate::{Action, Config, Protocol, Rule, Rules};

/// What an exhaustive search of a world found.
#[derive(Debug)]
pub struct Report {
    /// The world.
    pub name: &'static str,
    /// Different states.
    pub states: usize,
    /// Steps of the longest path searched.
    pub depth: usize,
    /// How long it took.
    pub time: Duration,
    /// Broken promises.
    pub broken: Vec<Counterexample>,
    /// Outcomes that should be reachable and are not.
    pub unreached: Vec<&'static str>,
}

/// A way to break a promise.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The promise.
    pub property: &'static str,
    /// What happens, in order.
    pub steps: Vec<Action>,
}

/// Searches the whole world with all rules in force.
pub fn explore(config: Config) -> Report {
    let reaches = config.reaches.clone();
    let threads = available_parallelism().map_or(1, NonZeroUsize::get);
    run(config, Rules::default(), threads, HasDiscoveries::AnyFailures, &reaches)
}

/// The shortest way that a world without these rules breaks a promise.
pub fn counterexample(mut config: Config, dropped: &[Rule]) -> Option<Counterexample> {
    config.reaches.clear();
    // One thread: then the first counter-example is a shortest one.
    run(config, Rules::without(dropped), 1, HasDiscoveries::AnyFailures, &[]).broken.into_iter().next()
}

/// The shortest way that a world without these rules breaks this promise.
pub fn counterexample_to(
    mut config: Config,
    dropped: &[Rule],
    property: &'static str,
) -> Option<Counterexample> {
    config.reaches.clear();
    let until = HasDiscoveries::AllOf([property].into());
    let broken = run(config, Rules::without(dropped), 1, until, &[]).broken;
    broken.into_iter().find(|found| found.property == property)
}

fn run(
    config: Config,
    rules: Rules,
    threads: usize,
    until: HasDiscoveries,
    reaches: &[&'static str],
) -> Report {
    let name = config.name;
    let started = Instant::now();
    let checker =
        Protocol::new(config, rules).checker().threads(threads).finish_when(until).spawn_bfs().join();
    let mut discoveries = checker.discoveries();
    let unreached = reaches.iter().copied().filter(|outcome| discoveries.remove(outcome).is_none()).collect();
    let mut broken: Vec<_> = discoveries
        .into_iter()
        .map(|(property, path)| Counterexample { property, steps: path.into_actions() })
        .collect();
    broken.sort_by_key(|found| (found.steps.len(), found.property));
    Report {
        name,
        states: checker.unique_state_count(),
        depth: checker.max_depth(),
        time: started.elapsed(),
        broken,
        unreached,
    }
}

impl Report {
    /// Prints the report, and panics unless every promise holds and every outcome is reachable.
    pub fn assert_clean(&self) {
        println!("{self}");
        assert!(self.broken.is_empty(), "{self}");
        assert!(self.unreached.is_empty(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} states, {} steps deep, {:.1} s",
            self.name,
            self.states,
            self.depth,
            self.time.as_secs_f64()
        )?;
        if !self.unreached.is_empty() {
            write!(f, "\nnever reached: {:?}", self.unreached)?;
        }
        self.broken.iter().try_for_each(|found| write!(f, "\n{found}"))
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is broken in {} steps:", self.property, self.steps.len())?;
        self.steps.iter().try_for_each(|step| write!(f, "\n  {step:?}"))
    }
}
