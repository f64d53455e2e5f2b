//! The canonical form, rule by rule.

use lambda_idempotency_key::{CanonicalReason, canonical};

fn of(json: &str) -> String {
    canonical(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn reason(json: &str) -> CanonicalReason {
    canonical(json).expect_err(json).reason()
}

#[test]
fn numbers_are_spelled_in_one_way() {
    for (text, canonical) in [
        ("1.50", "1.5"),
        ("15e-1", "1.5"),
        ("1e2", "100"),
        ("0.001", "0.001"),
        ("-1E-3", "-0.001"),
        ("-0.0", "0"),
        ("1e39", "1000000000000000000000000000000000000000"),
        ("1e40", "1e40"),
        ("120e39", "12e40"),
        ("1e-39", "0.000000000000000000000000000000000000001"),
        ("1e-40", "1e-40"),
        ("12345678901234567890123456789012345678901", "12345678901234567890123456789012345678901e0"),
        ("1e0000000000000000000000000000001", "10"),
        ("10e999999999999999999999", "1e1000000000000000000000"),
        ("0.1e1000000000000000000000", "1e999999999999999999999"),
        ("100e-1000000000000000000000", "1e-999999999999999999998"),
        ("0.01e-999999999999999999999", "1e-1000000000000000000001"),
        ("1e999999999999999999", "1e999999999999999999"),
        ("10e999999999999999999", "1e1000000000000000000"),
        ("0.1e1000000000000000000", "1e999999999999999999"),
    ] {
        assert_eq!(of(text), canonical, "{text}");
        assert_eq!(of(canonical), canonical);
    }
    let long = format!("1e{}", "9".repeat(100_000));
    assert_eq!(of(&long), long);
}

#[test]
fn members_are_sorted_by_the_bytes_of_their_names() {
    let sorted = "{\"A\":1,\"a\":1,\"e\u{301}\":1,\"z\":1,\"ä\":1,\"é\":1}";
    let a = "{\"ä\":1,\"z\":1,\"A\":1,\"a\":1,\"\\u00e9\":1,\"e\\u0301\":1}";
    let b = "{\"e\u{301}\":1,\"\u{e9}\":1,\"a\":1,\"A\":1,\"z\":1,\"\\u00E4\":1}";
    assert_eq!(of(a), sorted);
    assert_eq!(of(b), sorted);
    // By what the names mean, not by their escapes; and beyond the basic plane by code point.
    assert_eq!(of(r#"{"]":1,"\"":2,"!":3,"\n":4}"#), r#"{"\n":4,"!":3,"\"":2,"]":1}"#);
    assert_eq!(of("{\"\u{10000}\":1,\"\u{ffff}\":2}"), "{\"\u{ffff}\":2,\"\u{10000}\":1}");
    assert_eq!(of(r#"{"a\\b":1,"a":2,"a\u0001":3}"#), r#"{"a":2,"a\u0001":3,"a\\b":1}"#);
    assert_eq!(
        of(r#"{"b":{"d":1,"c":2},"a":[{"y":1,"x":2}]}"#),
        r#"{"a":[{"x":2,"y":1}],"b":{"c":2,"d":1}}"#
    );
}

#[test]
fn strings_carry_the_fewest_escapes() {
    assert_eq!(of(r#""\u0041\/\u00e9\ud83d\ude00\u007f""#), "\"A/é😀\u{7f}\"");
    assert_eq!(of(r#""\u0022\u005c\u0008\u000c\u000a\u000d\u0009""#), r#""\"\\\b\f\n\r\t""#);
    assert_eq!(of(r#""\u0000\u001F\u0010""#), r#""\u0000\u001f\u0010""#);
    assert_ne!(of("\"é\""), of("\"e\u{301}\""));
}

#[test]
fn a_member_that_is_there_twice_is_refused_at_its_second_place() {
    for (json, offset) in [
        (r#"{"a":1,"a":1}"#, 7),
        (r#"{"b":0,"a":1,"\u0061":1}"#, 13),
        (r#"[{"x":{"a":1,"b":2,"a":3}}]"#, 19),
        (r#"{"":1,"":1}"#, 6),
    ] {
        let error = canonical(json).expect_err(json);
        assert_eq!((error.offset(), error.reason()), (offset, CanonicalReason::DuplicateMember));
    }
    assert!(canonical(r#"[{"a":1},{"a":1}]"#).is_ok());
}

#[test]
fn anything_but_strict_json_is_refused() {
    use CanonicalReason as R;
    for (json, expected) in [
        ("", R::Truncated),
        (" \n", R::Truncated),
        ("[1", R::Truncated),
        ("{\"a\"", R::Truncated),
        ("\"abc", R::Truncated),
        ("\"\\u12", R::Truncated),
        ("tru", R::UnexpectedCharacter),
        ("nul", R::UnexpectedCharacter),
        ("[1,]", R::UnexpectedCharacter),
        ("{\"a\":1,}", R::UnexpectedCharacter),
        ("{a:1}", R::UnexpectedCharacter),
        ("'a'", R::UnexpectedCharacter),
        ("[1}", R::UnexpectedCharacter),
        ("NaN", R::UnexpectedCharacter),
        ("Infinity", R::UnexpectedCharacter),
        ("+1", R::UnexpectedCharacter),
        (".5", R::UnexpectedCharacter),
        ("\u{feff}1", R::UnexpectedCharacter),
        ("\u{a0}1", R::UnexpectedCharacter),
        ("1 1", R::TrailingText),
        ("{} {}", R::TrailingText),
        ("1x", R::TrailingText),
        ("01", R::InvalidNumber),
        ("-", R::InvalidNumber),
        ("-01", R::InvalidNumber),
        ("1.", R::InvalidNumber),
        ("1.e1", R::InvalidNumber),
        ("1e", R::InvalidNumber),
        ("1e+", R::InvalidNumber),
        ("\"\\x41\"", R::InvalidEscape),
        ("\"\\u12g4\"", R::InvalidEscape),
        ("\"\\ud800\"", R::LoneSurrogate),
        ("\"\\udc00\"", R::LoneSurrogate),
        ("\"\\ud800\\u0041\"", R::LoneSurrogate),
        ("\"\\ud800x\"", R::LoneSurrogate),
        ("\"\t\"", R::ControlCharacter),
        ("\"12345678\n\"", R::ControlCharacter),
    ] {
        assert_eq!(reason(json), expected, "{json:?}");
        assert!(canonical(&format!("[{json}")).is_err(), "{json:?}");
    }
}

#[test]
fn nesting_ends_at_128_levels() {
    let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
    assert_eq!(of(&nested(128)), nested(128));
    assert_eq!(reason(&nested(129)), CanonicalReason::TooDeep);
    assert_eq!(reason(&"{\"a\":".repeat(1_000_000)), CanonicalReason::TooDeep);
}
