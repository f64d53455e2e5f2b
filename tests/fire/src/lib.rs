//! What the tests under fire share: a proxy that breaks connections by chance, a stage of worker processes
//! behind it, and what their log and the provider's say in the end.
//!
//! Chance is seeded. A test prints its seed, which cargo shows when the test fails; `UNDER_FIRE_SEED=…`
//! uses it again.

mod chaos;
mod seed;
mod stage;

pub use chaos::{Chaos, Tally};
pub use seed::Seed;
pub use stage::{Log, Stage, millis_of, now_ms, order, until_ms};
