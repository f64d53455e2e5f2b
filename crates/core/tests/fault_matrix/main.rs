//! The fault matrix: at each store call each fault, under a function that succeeds, fails, panics or
//! is dropped, and then the next deliveries: at once, and after the lease.
//!
//! Whatever happens: no effect after an answer, one answer for all, no effect while a lease holds, no
//! attempt blocked by its own claim, and the function's own error never hidden.

mod claims;
mod commits;
mod deliveries;
mod fail_open;
mod renewals;
mod strays;
#[path = "../support/mod.rs"]
mod support;
mod waits;
