//! An expression and an input, parted by a zero byte: parsing and selecting end without a panic, in bounded
//! time; an expression that is accepted says the same twice, and the same where its paths are not known beforehand;
//! and the spellings of other languages take what it selects.
#![no_main]

use lambda_idempotency_key::{Expression, Key, Name, Powertools, RecordId};
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
            // No path is known through a function, but what is applied to its result is the same value.
            if let Ok(blind) = Expression::parse(&format!("not_null(@, `null`) | {expression}")) {
                let blind = blind.select(json).map(|selection| selection.as_str().to_owned());
                if let (Ok(first), Ok(blind)) = (&first, &blind) {
                    assert_eq!(first, blind);
                }
            }
            if let Ok(key) = Key::parse_allowing_volatile(expression) {
                let name = Name::new("n").expect("a name");
                for powertools in [Powertools::python(), Powertools::typescript()] {
                    if let Ok(id) = powertools.record_id(&name, &key, json) {
                        assert_eq!(RecordId::parse(id.as_str()), Some(id));
                    }
                }
            }
        }
        Err(error) => {
            assert!(error.offset() <= expression.len());
            assert!(!error.to_string().is_empty());
        }
    }
});
