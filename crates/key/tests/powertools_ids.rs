//! Ids and validation hashes equal those that Powertools for AWS Lambda wrote.

#[path = "fixtures/powertools.rs"]
#[allow(dead_code, reason = "not every test needs the rows themselves")]
mod powertools;

use std::collections::BTreeMap;
use std::path::PathBuf;

use lambda_idempotency_key::{
    CanonicalReason, Comparison, Fingerprint, Key, KeyError, Name, Powertools, PowertoolsHash, RecordId,
    SelectError,
};
use serde::Deserialize;

use powertools::cases;

/// Why this library refuses what the utility accepts.
#[derive(Debug, PartialEq)]
enum Refusal {
    Missing,
    Differs,
    Json(CanonicalReason),
}

fn refusal(error: &KeyError) -> Refusal {
    match error {
        KeyError::Missing { .. } => Refusal::Missing,
        KeyError::Invalid { reason: SelectError::OtherInPowertools { .. }, .. } => Refusal::Differs,
        KeyError::Invalid { reason: SelectError::Json(error), .. } => Refusal::Json(error.reason()),
        other => panic!("an unexpected refusal: {other}"),
    }
}

#[test]
fn every_record_that_powertools_wrote_is_found_or_refused_with_a_reason() {
    let mut refused = BTreeMap::new();
    let mut found = 0;
    for case in cases() {
        for (language, powertools, written) in case.written() {
            let name = written.map_or("none", |written| written.name.as_str());
            let name = Name::new(name).expect("a name");
            let key = Key::parse_allowing_volatile(&case.key).expect("a key");
            let at = format!("{} in {language}", case.case);
            let Ok(id) = powertools.record_id(&name, &key, &case.event).map_err(|error| {
                refused.insert(at.clone(), refusal(&error));
            }) else {
                continue;
            };
            let written = written.unwrap_or_else(|| panic!("{at} was missing, and got the id {id}"));
            assert_eq!(id.as_str(), format!("{}#{}", written.name, written.hash), "{at}");
            assert_eq!(RecordId::parse(id.as_str()), Some(id.clone()), "{at}");
            assert_eq!((id.name(), id.hash()), (&*written.name, &*written.hash), "{at}");
            let fingerprint = Fingerprint::parse(&case.fingerprint).expect("a fingerprint");
            let validation = powertools.validation(Some(&fingerprint), &case.event).expect("can be read");
            assert_eq!(
                validation.as_ref().map(|validation| validation.as_str()),
                written.validation.as_deref(),
                "{at}"
            );
            found += 1;
        }
    }
    let mut expected = BTreeMap::new();
    let mut expect = |case: &str, reason: fn() -> Refusal| {
        for language in ["python", "typescript"] {
            expected.insert(format!("{case} in {language}"), reason());
        }
    };
    // Python and TypeScript do not agree on these among themselves: one runs such an event without protection, the
    // other one gives all of them one key.
    expect("015_jmespath_scalar_empty_string", || Refusal::Missing);
    expect("066_all_null_values", || Refusal::Missing);
    // Both take a key of which a part, or all but the names, is missing.
    expect("019_jmespath_multiselect_hash_one_null", || Refusal::Missing);
    expect("069_empty_containers_inside", || Refusal::Missing);
    // sort, keys and length; sum, avg, ceil, floor, max, to_string and to_number; to_string
    expect("034_jmespath_functions_join_sort", || Refusal::Differs);
    expect("035_jmespath_functions_numbers", || Refusal::Differs);
    expect("036_jmespath_to_string_object", || Refusal::Differs);
    expect("048_string_lone_surrogate", || Refusal::Json(CanonicalReason::LoneSurrogate));
    expect("076_duplicate_json_keys", || Refusal::Json(CanonicalReason::DuplicateMember));
    expected.insert("077_proto_key in typescript".to_owned(), Refusal::Differs);
    assert_eq!(refused, expected);
    assert_eq!(found, 137, "of 78 cases in two languages");
}

#[test]
fn a_bare_hash_compares_with_every_text_but_those_with_a_rule() {
    let narrowed = Fingerprint::parse("amount").expect("an expression");
    let of = |json| {
        let validation = Powertools::python().validation(Some(&narrowed), json).expect("readable");
        validation.expect("not off")
    };
    let (one, other) = (of(r#"{"amount":12.5}"#), of(r#"{"amount":12}"#));
    assert_eq!(one.as_str(), "cf3e481a44141cabd4e9d46cfbb1f899");
    assert_eq!(one.compare(one.as_str()), Comparison::Same);
    assert_eq!(one.compare(other.as_str()), Comparison::Different);
    for fingerprint in [&narrowed, &Fingerprint::Whole] {
        let ours = fingerprint.of(r#"{"amount":12.5}"#).expect("readable").expect("not off");
        assert_eq!(one.compare(ours.as_str()), Comparison::NotComparable);
        assert_eq!(ours.compare(one.as_str()), Comparison::NotComparable);
    }
    // Where none is given it is this library's own, and `none` is none.
    let json = r#"{"amount":12.5}"#;
    let typescript = Powertools::typescript();
    assert_eq!(typescript.validation(None, json), Fingerprint::Whole.of(json));
    assert_eq!(typescript.validation(Some(&Fingerprint::Off), json), Ok(None));
    // Said out loud, the whole input is what the other one validates by `@`.
    let everything =
        typescript.validation(Some(&Fingerprint::Whole), json).expect("readable").expect("not off");
    assert_eq!(everything.as_str(), "V371sadwZVAifAQevWdUGg==");
}

#[test]
fn an_expression_whose_result_differs_between_the_languages_is_refused_by_name() {
    let name = Name::new("n").expect("a name");
    for (text, part) in [
        ("sum(n)", "sum(n)"),
        ("[a, to_string(b)]", "to_string(b)"),
        ("o.*", "o.*"),
        ("keys(o)[0]", "keys(o)"),
        ("items[?length(name) > `2`].id", "length(name)"),
        ("sort_by(items, &id)[0].id", "sort_by(items, &id)"),
        // 0 and false are nothing to some functions of TypeScript.
        ("not_null(q, id)", "not_null(q, id)"),
        ("map(&amount, items)", "map(&amount, items)"),
        // Python spells a literal as it is written; TypeScript keeps the order of its names.
        ("[id, `1.0`]", "`1.0`"),
        ("v || `1e2`", "`1e2`"),
        (r#"[id, `{"b":1,"B":2}`]"#, r#"`{"b":1,"B":2}`"#),
        (r"'it\'s'", r"'it\'s'"),
        // Python orders texts, and gives booleans where TypeScript has none.
        ("[id, amount > `100`]", "amount > `100`"),
        ("items[?d >= '2024-01-01'].n", "d >= '2024-01-01'"),
        ("items[?a > b].n", "a > b"),
        // Doubles, and booleans that are numbers.
        ("[id, a == b]", "a == b"),
        ("items[?a == `0.1`].n", "a == `0.1`"),
        ("items[?a == `[1]`].n", "a == `[1]`"),
        ("items[?a == `9007199254740993`].n", "a == `9007199254740993`"),
        ("[id, contains(tags, `true`)]", "contains(tags, `true`)"),
        ("[id, contains(tags, x)]", "contains(tags, x)"),
        // Neither projects such a slice.
        ("[id, m[0][0:2].v]", "m[0][0:2]"),
        // What every object of JavaScript has, or none.
        ("[id, valueOf]", "valueOf"),
        (r#"[id, ""]"#, r#""""#),
    ] {
        let key = Key::parse(text).expect(text);
        for powertools in [Powertools::python(), Powertools::typescript()] {
            let error = powertools.record_id(&name, &key, "{}").expect_err(text);
            let told = error.to_string();
            assert!(told.contains(&format!("`{part}` ")) && told.contains("leave it out"), "{told}");
        }
    }
    // Events on which they do not agree.
    let key = Key::parse("[id, powertools_base64(d)]").expect("a key");
    for (data, agreed) in [("YWJj", true), (" YWJj ", false), ("YWJj\\n", false), ("77u/YWJj", false)] {
        let event = format!(r#"{{"id":1,"d":"{data}"}}"#);
        let id = Powertools::typescript().record_id(&name, &key, &event);
        assert_eq!(id.is_ok(), agreed, "{data}: {id:?}");
        assert!(key.of(&event).is_ok(), "{data} is a key without the profile");
    }
    // And what they agree on is not.
    for text in [
        "items[?n > `2` && !gone].sku",
        "items[?status == 'open' || kind != `3`].sku",
        "items[1:5:2] | [0:2]",
        "[id, a == `true`, b == `null`, contains(tags, 'x'), `{\"a\": 1}`]",
        "[starts_with(id, 'a'), join('-', tags), type(id), to_array(id)]",
    ] {
        let event = r#"{"id":"a","tags":["x"],"items":[{"n":3,"sku":"s","status":"open"},{"n":4,"sku":"t","kind":1}]}"#;
        let key = Key::parse(text).expect(text);
        match Powertools::python().record_id(&name, &key, event) {
            Ok(_) | Err(KeyError::Missing { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// `fixtures/powertools-spellings.json`: hashes of what `json.dumps(…, sort_keys=True)` (Python 3.11.7) and
/// `JSON.stringify` of the sorted object (Node 20.20.2) make of random values: doubles of every size, integers
/// beyond them, characters of all planes, names that are numbers or differ in case only.
#[test]
fn every_value_is_spelled_as_the_other_languages_spell_it() {
    #[derive(Deserialize)]
    struct Value {
        event: String,
        python: String,
        typescript: String,
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/powertools-spellings.json");
    let text = std::fs::read_to_string(path).expect("readable");
    let values: Vec<Value> = serde_json::from_str(&text).expect("a list of values");
    assert_eq!(values.len(), 200);
    let (name, whole) = (Name::new("n").expect("a name"), Key::parse("@").expect("a key"));
    for Value { event, python, typescript } in values {
        for (powertools, hash) in [(Powertools::python(), python), (Powertools::typescript(), typescript)] {
            let id = powertools.record_id(&name, &whole, &event).expect("has a key");
            assert_eq!(id.hash(), hash, "{powertools:?}: {event}");
        }
    }
}
