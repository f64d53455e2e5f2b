//! What may be a key, what is missing, and how equal keys are.

use lambda_idempotency_key::{Key, KeyError, KeyValue};

fn key(expression: &str, json: &str) -> Result<KeyValue, KeyError> {
    Key::parse(expression).expect(expression).of(json)
}

fn value(expression: &str, json: &str) -> String {
    key(expression, json).expect(json).as_str().to_owned()
}

/// The parts that are missing.
fn missing(expression: &str, json: &str) -> Vec<String> {
    match key(expression, json) {
        Err(KeyError::Missing { parts, .. }) => parts,
        other => panic!("{expression} on {json}: {other:?}"),
    }
}

#[test]
fn member_order_is_no_difference_and_array_order_is_one() {
    let a = r#"{"order":{"a":1,"b":{"x":1,"y":2}}}"#;
    let b = r#"{"order":{"b":{"y":2,"x":1},"a":1}}"#;
    assert_eq!(value("order", a), value("order", b));
    for expression in ["order.*", "values(order)", "keys(order)", "order.b.* | [0]", "to_string(@)"] {
        assert_eq!(value(expression, a), value(expression, b), "{expression}");
    }
    let items = |json| value("order", json);
    assert_ne!(items(r#"{"order":{"items":[1,2]}}"#), items(r#"{"order":{"items":[2,1]}}"#));
}

#[test]
fn white_space_inside_a_body_is_a_difference_unless_the_body_is_parsed() {
    let a = r#"{"body":"{\"user\":\"u1\",\"order\":7}"}"#;
    let b = r#"{"body":"{ \"order\": 7,\n \"user\": \"u1\" }"}"#;
    let parsed = "powertools_json(body).[user,order]";
    assert_eq!(value(parsed, a), r#"["u1",7]"#);
    assert_eq!(value(parsed, a), value(parsed, b));
    assert_ne!(value("body", a), value("body", b));
}

#[test]
fn a_missing_header_is_an_error_and_zero_and_false_are_values() {
    let header = r#"headers."idempotency-key""#;
    for json in [
        r#"{"headers":{}}"#,
        r#"{"headers":{"idempotency-key":""}}"#,
        r#"{"headers":{"idempotency-key":null}}"#,
        r#"{"headers":null}"#,
        r#"{}"#,
        r#"null"#,
        r#"[]"#,
        r#""text""#,
    ] {
        assert_eq!(missing(header, json), [header], "{json}");
    }
    assert_eq!(value(header, r#"{"headers":{"idempotency-key":0}}"#), "0");
    assert_eq!(value(header, r#"{"headers":{"idempotency-key":false}}"#), "false");
}

#[test]
fn every_type_of_value_is_a_key_or_missing() {
    for (json, present) in [
        ("null", false),
        (r#""""#, false),
        ("[]", false),
        ("{}", false),
        (r#"[null,"",[],{}]"#, false),
        (r#"{"x":null,"y":{"z":[""]}}"#, false),
        ("0", true),
        ("-0", true),
        ("false", true),
        ("true", true),
        (r#"" ""#, true),
        ("[0]", true),
        ("[null,1]", true),
        (r#"{"x":null,"y":false}"#, true),
    ] {
        for (expression, json) in [("a", format!(r#"{{"a":{json}}}"#)), ("@", json.to_owned())] {
            assert_eq!(key(expression, &json).is_ok(), present, "{expression} on {json}");
        }
    }
}

#[test]
fn every_part_of_a_multi_select_must_be_present() {
    let key = "[user.uid, order_id]";
    assert_eq!(value(key, r#"{"user":{"uid":"u-1"},"order_id":10000}"#), r#"["u-1",10000]"#);
    assert_eq!(missing(key, r#"{"user":{"uid":"u-1","order_id":10000}}"#), ["order_id"]);
    assert_eq!(missing(key, "{}"), ["user.uid", "order_id"]);
    assert_eq!(missing("{u: user.uid, o: order_id}", r#"{"order_id":1}"#), ["user.uid"]);
    assert_eq!(missing("powertools_json(body).[user, order]", r#"{"body":"{\"user\":1}"}"#), ["order"]);
    assert_eq!(missing("detail.[a, b]", "{}"), ["detail.[a, b]"]);
    assert_eq!(missing("detail | [a, b]", r#"{"detail":{"a":1}}"#), ["b"]);
}

#[test]
fn an_optional_part_is_written_with_a_default() {
    let key = "[user.uid, order_id || 'none']";
    let wrong_place = r#"{"user":{"uid":"u-1","order_id":10000}}"#;
    assert_eq!(value(key, wrong_place), r#"["u-1","none"]"#);
    let error = Key::parse("[user.uid, order_id]").unwrap().of(wrong_place).unwrap_err();
    assert!(error.to_string().contains("`order_id || 'none'`"), "{error}");
}

#[test]
fn a_value_with_some_parts_missing_counts() {
    assert_eq!(value("a", r#"{"a":[null,1]}"#), "[null,1]");
    assert_eq!(value("[a, [b, c]]", r#"{"a":1,"c":2}"#), "[1,[null,2]]");
    assert_eq!(missing("[a, [b, c]]", r#"{"a":1}"#), ["[b, c]"]);
    assert_eq!(missing("items[].id", r#"{"items":[{"x":1}]}"#), ["items[].id"]);
}

#[test]
fn a_filter_that_selects_nothing_is_a_missing_key() {
    let items = r#"{"items":[{"id":"a","qty":2},{"id":"b","qty":1}]}"#;
    assert_eq!(value("items[?qty >= `2`].id", items), r#"["a"]"#);
    assert_eq!(missing("items[?qty >= '2'].id", items), ["items[?qty >= '2'].id"]);
}

#[test]
fn numbers_are_compared_exactly_at_any_size() {
    let ids = r#"{"items":[{"id":9007199254740993,"n":1},{"id":9007199254740992,"n":2}]}"#;
    assert_eq!(value("items[?id == `9007199254740993`].n", ids), "[1]");
    assert_eq!(value("items[?id > `9007199254740992.5`].n", ids), "[1]");
    assert_eq!(value("max_by(items, &id).n", ids), "1");
    assert_eq!(value("id", r#"{"id":18446744073709551615}"#), "18446744073709551615");
    assert_eq!(value("a == b", r#"{"a":1e1000000000000000000000,"b":10e999999999999999999999}"#), "true");
    assert_eq!(value("sum(a)", r#"{"a":[0.1,0.2,9007199254740993]}"#), "9007199254740993.3");
    assert_eq!(value("[abs(a), floor(a), ceil(a)]", r#"{"a":-1.5}"#), "[1.5,-2,-1]");
    assert_eq!(value("avg(a)", r#"{"a":[1,2]}"#), "1.5");
    assert_eq!(missing("avg(a)", r#"{"a":[]}"#), ["avg(a)"]);
}

#[test]
fn one_number_has_one_key_however_it_is_written() {
    let one = |json: &str| value("id", json);
    for text in ["100.0", "1e2", "1E+2", "1000e-1", "100.000", "0.1e3"] {
        assert_eq!(one(&format!(r#"{{"id":{text}}}"#)), "100", "{text}");
    }
    for text in ["0", "-0", "0.0", "-0e5", "0e99999999999999999999999999"] {
        assert_eq!(one(&format!(r#"{{"id":{text}}}"#)), "0", "{text}");
    }
    assert_ne!(one(r#"{"id":"100"}"#), one(r#"{"id":100}"#));
}

#[test]
fn a_member_that_is_there_twice_is_no_key() {
    for (expression, json) in [
        ("a", r#"{"a":1,"b":2,"a":3}"#),
        ("a", r#"{"a":1,"\u0061":1}"#),
        ("x.a", r#"{"x":{"a":1,"a":1}}"#),
        ("x", r#"{"x":{"a":1,"a":1}}"#),
        ("@", r#"{"x":{"a":1,"a":1}}"#),
        ("x.*", r#"{"x":{"a":1,"a":1}}"#),
    ] {
        let error = key(expression, json).expect_err(json).to_string();
        assert!(error.contains("the same member twice"), "{error}");
    }
    for expression in ["x.a", "x", "[x]", "x.*", "*.a"] {
        let error = key(expression, r#"{"first":0,"x":{"a":1,"a":1}}"#).unwrap_err().to_string();
        assert!(error.contains("at byte 2"), "{expression}: {error}");
    }
    // What the key does not look at cannot make it ambiguous.
    assert_eq!(value("b", r#"{"a":1,"b":2,"a":3}"#), "2");
}

#[test]
fn the_whole_input_as_key_sees_every_difference() {
    let sqs = |id| format!(r#"{{"messageId":"{id}","body":"{{}}"}}"#);
    assert_ne!(value("@", &sqs(1)), value("@", &sqs(2)));
    assert_eq!(value("@", r#"{"type":"ping"}"#), value("@", r#" { "type" : "ping" } "#));
}

#[test]
fn a_user_is_kept_apart_by_a_part_of_the_key() {
    let call = |user| format!(r#"{{"sub":"{user}","k":1}}"#);
    assert_ne!(value("[sub, k]", &call("a")), value("[sub, k]", &call("b")));
    assert_eq!(value("k", &call("a")), value("k", &call("b"))); // the hazard
}

#[test]
fn broken_json_is_an_error_wherever_it_is_broken() {
    for json in ["", "{", r#"{"a":1} x"#, r#"{"a":1,}"#, r#"{"a":1,"z":tru}"#, r#"{"a":1,"z":[01]}"#] {
        let error = key("a", json).expect_err(json);
        assert!(matches!(error, KeyError::Invalid { .. }), "{error}");
    }
    let deep = "[".repeat(129) + &"]".repeat(129);
    assert!(key("a", &format!(r#"{{"a":1,"b":{deep}}}"#)).is_err());
    assert!(key("@", &("[".repeat(1_000_000))).is_err());
}

#[test]
fn more_than_32_mib_is_no_key() {
    let text = "x".repeat(32 << 20);
    for json in [format!(r#"{{"a":"{text}"}}"#), format!(r#"{{"a":["{text}",1]}}"#)] {
        for expression in ["a", "[a]", "not_null(a)"] {
            let error = key(expression, &json).expect_err(expression).to_string();
            assert!(error.contains("larger than 32 MiB"), "{error}");
        }
    }
}

#[test]
fn what_was_probably_meant_is_said_with_a_missing_key() {
    let told = |key: &str, json: &str| Key::parse(key).expect(key).of(json).expect_err(key).to_string();
    let sqs = r#"{"body":"{\"order_id\":7}"}"#;
    let inside = told("body.order_id", sqs);
    assert!(inside.contains("open it: `powertools_json(body).order_id`"), "{inside}");
    let inside = told("[id, Records[0].Sns.Message.order.id]", r#"{"id":1}"#);
    assert!(inside.contains("open it: `powertools_json(Records[0].Sns.Message).order.id`"), "{inside}");
    let quoted = told(r#"[id, order_id || "none"]"#, r#"{"id":1}"#);
    assert!(!quoted.contains(r#""none" ||"#), "{quoted}");
    let quoted = told(r#"[id, "none"]"#, r#"{"id":1}"#);
    assert!(quoted.contains(r#""none" names a member: a text stands in single quotes"#), "{quoted}");
    // Nothing of that where nothing is meant.
    for (key, json) in
        [("[order_id, version]", "{}"), (r#"["detail-type", detail.id]"#, "{}"), ("metadata.id", "{}")]
    {
        let plain = told(key, json);
        assert!(!plain.contains("open it") && !plain.contains("single quotes"), "{plain}");
    }
    assert!(told("[order_id, version]", "{}").contains("`order_id`, `version` select nothing"));
    assert!(told("[order_id, version]", r#"{"order_id":1}"#).contains("`version` selects nothing"));
}
