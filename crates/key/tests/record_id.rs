//! The id of a record: its form, what it depends on, and what it never shows.

use std::collections::HashSet;

use lambda_idempotency_key::{Key, KeyValue, Name, NameError, RecordId, Secret};

fn key(json: &str) -> KeyValue {
    Key::parse("@").unwrap().of(json).unwrap()
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

#[test]
fn the_name_scopes_the_key_and_ends_at_the_hash_sign() {
    for (text, error) in [
        ("", NameError::Empty),
        ("a#b", NameError::Character { offset: 1, character: '#' }),
        ("a\n", NameError::Character { offset: 1, character: '\n' }),
    ] {
        assert_eq!(Name::new(text), Err(error));
    }
    assert!(Name::new("x".repeat(512)).is_ok());
    assert_eq!(Name::new("x".repeat(513)), Err(NameError::TooLong { bytes: 513 }));
    let id = |text| RecordId::new(&name(text), None, &key("1"), None);
    assert_eq!(id("a").hash(), id("b").hash());
    assert_ne!(id("a"), id("b"));
    assert_eq!(id("orders: submit/ä").name(), "orders: submit/ä");
}

#[test]
fn tenant_secret_and_key_cannot_run_into_each_other() {
    let secret = Secret::new("a secret of 16 b").unwrap();
    let other = Secret::new("a secret of 16 c").unwrap();
    let mut ids = HashSet::new();
    for tenant in [None, Some("a"), Some("a1"), Some("1")] {
        for json in ["1", "11", "\"a1\"", "[\"a\",1]"] {
            for secret in [None, Some(&secret), Some(&other)] {
                ids.insert(RecordId::new(&name("n"), tenant, &key(json), secret));
            }
        }
    }
    assert_eq!(ids.len(), 4 * 4 * 3);
    let empty = RecordId::new(&name("n"), Some(""), &key("1"), None);
    assert_eq!(empty, RecordId::new(&name("n"), None, &key("1"), None));
}

/// Payloads whose words are drawn by chance: a million in a release build (8 s without optimisation), less
/// than half of that in others. A hash of 32 bits would give 18 pairs and more one id.
#[test]
fn many_random_payloads_have_as_many_ids() {
    const PAYLOADS: u64 = if cfg!(debug_assertions) { 400_000 } else { 1_000_000 };
    let (name, whole) = (name("n"), Key::parse("@").unwrap());
    let mut ids = HashSet::with_capacity(PAYLOADS as usize);
    let mut state = 1_u64;
    for _ in 0..PAYLOADS {
        // A full period: no two are the same.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let payload = format!(r#"{{"order":"{:x}","version":{}}}"#, state >> 16, state & 0xffff);
        let id = RecordId::new(&name, None, &whole.of(&payload).unwrap(), None);
        ids.insert(u128::from_str_radix(&id.hash()[..32], 16).unwrap());
    }
    assert_eq!(ids.len() as u64, PAYLOADS);
}

#[test]
fn a_stored_id_is_read_back_and_anything_else_is_not() {
    let id = RecordId::new(&name("n"), None, &key("1"), None);
    assert_eq!(RecordId::parse(id.as_str()), Some(id.clone()));
    assert_eq!(id.short(), &id.hash()[..8]);
    assert_eq!(id.to_string(), id.as_str());
    let hash = id.hash();
    for text in ["", "#", "n", "n#12", &format!("#{hash}"), &format!("n##{hash}"), &format!("n#{hash}0")] {
        assert_eq!(RecordId::parse(text), None, "{text}");
    }
    assert_eq!(RecordId::parse(&format!("n#{}", hash.to_uppercase().replace(char::is_numeric, "A"))), None);
}

#[test]
fn a_secret_has_sixteen_bytes_and_is_never_shown() {
    assert!(Secret::new("15 bytes only..").is_err());
    let secret = Secret::new(b"sixteen bytes...".to_vec()).unwrap();
    assert!(!format!("{secret:?}").contains("sixteen"));
}
