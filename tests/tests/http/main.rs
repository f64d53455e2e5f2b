//! What an HTTP client is told when a guarded function does not run.

mod events;
mod problems;
mod queues;
mod recipe;
mod refusals;
mod runtime;
