//! Canonical form: never a panic, idempotent, and what is accepted is still accepted afterwards.
#![no_main]

use lambda_idempotency_key::canonical;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(json) = std::str::from_utf8(data) else { return };
    if let Ok(once) = canonical(json) {
        assert_eq!(canonical(&once).as_deref(), Ok(once.as_str()));
    }
});
