//! Source recognition and fingerprints: never a panic; a fingerprint exists exactly for text that has a
//! canonical form.
#![no_main]

use lambda_idempotency_key::{Fingerprint, canonical, source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(json) = std::str::from_utf8(data) else { return };
    let _ = source::recognise(json);
    let _ = source::record_count(json);
    let fingerprint = Fingerprint::Whole.of(json);
    if canonical(json).is_ok() {
        assert!(fingerprint.is_ok());
    }
    if let Ok(Some(validation)) = fingerprint {
        assert!(validation.as_str().starts_with(validation.prefix()));
    }
});
