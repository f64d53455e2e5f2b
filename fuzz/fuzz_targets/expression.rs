//! An expression and an input, parted by a zero byte: parsing and selecting end without a panic, in bounded
//! time, and an expression that is accepted says the same twice.
#![no_main]

use lambda_idempotency_key::{Expression, Key};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (expression, json) = text.split_once('\0').unwrap_or((text, "{}"));
    let _ = Key::parse(expression);
    match Expression::parse(expression) {
        Ok(parsed) => {
            let first = parsed.select(json).map(|selection| selection.as_str().to_owned());
            let second = parsed.select(json).map(|selection| selection.as_str().to_owned());
            assert_eq!(first, second);
        }
        Err(error) => {
            assert!(error.offset() <= expression.len());
            assert!(!error.to_string().is_empty());
        }
    }
});
