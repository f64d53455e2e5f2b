//! A model of the claim protocol, checked exhaustively.
//!
//! A few attempts at one key, a store, and a network between them that delays, reorders, repeats
//! and loses. What the store does with a request is decided by
//! [`lambda_idempotency_core::decide`], the very functions that are shipped; [`Rules`] can take a
//! single rule away from them, and each time the checker must find what then goes wrong.
//!
//! | module | what is in it |
//! |---|---|
//! | [`config`] | the worlds: how many attempts, contents, clocks, leases, what may go wrong |
//! | [`rules`] | the shipped decisions, less the rules that were taken away |
//! | [`state`] | what the checker tells apart |
//! | [`actions`] | what can happen next |
//! | [`store`] | a request meets the record |
//! | [`worker`] | an attempt from its claim to its answer |
//! | [`properties`] | the promises, and what has to be reachable |
//! | [`check`] | running the checker and reading its findings |

pub mod actions;
pub mod check;
pub mod config;
pub mod presets;
pub mod properties;
pub mod rules;
pub mod state;
pub mod store;
pub mod worker;

mod protocol;

pub use actions::Action;
pub use check::{Counterexample, Report, counterexample, explore};
pub use config::Config;
pub use protocol::Protocol;
pub use rules::{Rule, Rules};
pub use state::State;
