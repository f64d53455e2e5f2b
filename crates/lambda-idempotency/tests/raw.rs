//! `Raw` keeps the text as it came and reads exact numbers, whatever another crate of the build switches on
//! in serde_json: `scripts/test keys` runs this with all of it.

use std::collections::BTreeMap;

use lambda_idempotency::{Engine, Key, MemoryStore, Raw, batch::Record, compute_id};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

type TestResult = Result<(), Box<dyn std::error::Error>>;

/// An order as somebody's producer writes it: members in no order, numbers in several spellings, one that is
/// in no type here.
const ORDER: &str = r#"{ "z": 1.50, "id":18446744073709551615,"wide": -170141183460469231731687303715884105728,
    "price":0.30000000000000004, "a": [1e2, 100, 1E400], "unknown": 0.1000000000000000055511151231257827 }"#;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    id: u64,
    wide: i128,
    price: f64,
}

const READ: Order = Order { id: u64::MAX, wide: i128::MIN, price: 0.1 + 0.2 };

#[test]
fn the_text_is_kept_and_the_numbers_are_exact() -> TestResult {
    let captured: [Raw<Order>; 3] =
        [Raw::from_json(ORDER)?, serde_json::from_str(ORDER)?, serde_json::from_slice(ORDER.as_bytes())?];
    for order in captured {
        assert_eq!(*order, READ);
        assert_eq!(order.json(), ORDER);
        assert_eq!(serde_json::to_string(&order)?, ORDER);
        assert_eq!(serde_json::to_string(&Record::new("m", order))?, ORDER);
    }
    Ok(())
}

#[test]
fn the_id_and_the_content_are_those_of_the_text() -> TestResult {
    let raw = Raw::<Order>::from_json(ORDER)?;
    let text: Box<RawValue> = serde_json::from_str(ORDER)?;
    let id = compute_id("raw", "[id, wide, price, a, unknown]", &raw)?;
    assert_eq!(id.short(), "de59ba44");
    assert_eq!(compute_id("raw", "[id, wide, price, a, unknown]", &text)?, id);
    // Every digit counts, of members too that no type has.
    let other = ORDER.replace("1257827", "1257828");
    assert_ne!(compute_id("raw", "[id, wide, price, a, unknown]", &Raw::<Order>::from_json(&other)?)?, id);
    // And of no other spelling of the same.
    let respelled = ORDER.replace("1.50", "15e-1").replace("1e2", "1.00E+2");
    let engine = Engine::new("raw", MemoryStore::new(), Key::parse("id")?)?;
    let content = |json: &str| -> Result<_, lambda_idempotency::Error> {
        Ok(engine
            .identify(&Raw::<Order>::from_json(json)?)?
            .and_then(|identity| identity.validation().cloned()))
    };
    assert_eq!(content(ORDER)?, content(&respelled)?);
    assert_ne!(content(ORDER)?, content(&other)?);
    Ok(())
}

#[tokio::test]
async fn a_result_replays_to_the_last_digit() -> TestResult {
    let engine = Engine::new("raw", MemoryStore::new(), Key::parse("id")?)?;
    let order = Raw::<Order>::from_json(ORDER)?;
    let result = || BTreeMap::from([("first".to_owned(), READ)]);
    for replayed in [false, true] {
        let outcome = engine.run(&order, |_| async { Ok::<_, std::convert::Infallible>(result()) }).await?;
        assert_eq!(outcome.is_replayed(), replayed);
        assert_eq!(outcome.into_value(), Some(result()));
    }
    Ok(())
}

#[test]
fn a_missing_field_is_named_and_nothing_of_the_text_is_shown() -> TestResult {
    let told = |json: &str| {
        let direct = Raw::<Order>::from_json(json).err().map(|error| error.to_string());
        let nested = serde_json::from_str::<Raw<Order>>(json).err().map(|error| error.to_string());
        [direct, nested].map(|told| told.unwrap_or_default())
    };
    for told in told(r#"{"id":1,"wide":2,"prize":"canary"}"#) {
        assert!(told.contains("the field `price` is missing"), "{told}");
        assert!(!told.contains("canary") && !told.contains("prize"), "{told}");
    }
    for told in told(r#"{"id":"canary","wide":2,"price":1}"#) {
        assert!(told.contains("a wrong type") && !told.contains("canary"), "{told}");
    }
    // An error of one's own that only looks like it.
    #[derive(Debug)]
    struct Own;
    impl<'de> Deserialize<'de> for Own {
        fn deserialize<D: serde::Deserializer<'de>>(text: D) -> Result<Self, D::Error> {
            let text = String::deserialize(text)?;
            Err(serde::de::Error::custom(format!("missing field `{text}`")))
        }
    }
    let error = Raw::<Own>::from_json(r#""a card, 4242 4242""#).err().ok_or("it was read")?;
    assert!(!error.to_string().contains("4242"), "{error}");
    Ok(())
}
