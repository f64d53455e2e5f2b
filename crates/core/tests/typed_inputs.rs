//! What a typed input is called in the store. These ids do not move, whatever another crate of the build
//! switches on in serde_json: `scripts/test keys` runs this with all of it.

use std::collections::{BTreeMap, HashMap};

use lambda_idempotency_core::{Engine, Key, MemoryStore};
use serde::Serialize;
use serde_json::{Value, json};

fn engine(key: &str) -> Engine {
    Engine::new("typed", MemoryStore::new(), Key::parse(key).expect("a key")).expect("an engine")
}

/// The first digits of id and content.
fn named<I: Serialize + ?Sized>(input: &I) -> (String, String) {
    let identity = engine("@").identify(input).expect("has a key").expect("is there");
    let content = identity.validation().map_or("", |validation| validation.as_str());
    (identity.id().short().to_owned(), content[..19].to_owned())
}

#[derive(Clone, Serialize)]
struct Numbers {
    id: u64,
    low: i64,
    wide: i128,
    price: f64,
    small: f32,
    by_id: HashMap<u64, f64>,
    rest: Value,
}

fn numbers() -> Numbers {
    Numbers {
        id: u64::MAX,
        low: i64::MIN,
        wide: i128::MAX,
        price: 0.1 + 0.2,
        small: 0.1,
        by_id: (0..20).map(|id| (u64::MAX - id, 1e23)).collect(),
        rest: json!({"z": u64::MAX, "a": [-0.0, 5e-324, 1e21, -1], "m": {"b": 1, "a": 2}}),
    }
}

#[test]
fn the_names_of_typed_inputs_do_not_move() {
    let pinned = |id: &str, content: &str| (id.to_owned(), content.to_owned());
    assert_eq!(named(&numbers()), pinned("b0f316b3", "1:558bf8d0:0c479e71"));
    assert_eq!(named(&serde_json::to_value(u64::MAX).expect("a number")), named(&u64::MAX));
    assert_eq!(named(&u64::MAX), pinned("221cbc80", "1:558bf8d0:6ed5817f"));
    assert_eq!(named(&i128::MIN), pinned("26e064de", "1:558bf8d0:c7dfad40"));
    assert_eq!(named(&(0.1 + 0.2)), pinned("f8f1f717", "1:558bf8d0:09d41612"));
}

#[test]
fn a_number_is_the_same_in_every_type_that_holds_it() {
    for number in [named(&1.0_f64), named(&1_f32), named(&1_u128), named(&json!(1)), named(&json!(1.0))] {
        assert_eq!(number, named(&1_u8));
    }
    assert_eq!(named(&0.1_f32), named(&0.1_f64));
    assert_eq!(named(&[-0.0, 0.0]), named(&[0, 0]));
    assert_ne!(named(&u64::MAX), named(&(u64::MAX - 1)));
    assert_ne!(named(&i128::MAX), named(&(i128::MAX - 1)));
}

#[test]
fn the_order_of_members_does_not_count_and_that_of_a_list_does() {
    let members = ["b", "a", "ä", "A", "10", "9"];
    let map: BTreeMap<_, _> = members.iter().map(|name| (*name, 1)).collect();
    let hashed: HashMap<_, _> = members.iter().map(|name| (*name, 1)).collect();
    let value: Value = members.iter().rev().map(|name| ((*name).to_owned(), json!(1))).collect();
    assert_eq!(named(&map), named(&hashed));
    assert_eq!(named(&map), named(&value));
    assert_ne!(named(&["a", "b"]), named(&["b", "a"]));
}
