//! The functions that take data out of strings.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lambda_idempotency_key::{DecodeReason, Key, KeyError, SelectError};

fn key(expression: &str, body: &str) -> Result<String, KeyError> {
    let key = Key::parse(expression).expect(expression);
    key.of(&format!(r#"{{"body":{body}}}"#)).map(|value| value.as_str().to_owned())
}

fn reason(expression: &str, body: &str) -> DecodeReason {
    match key(expression, body) {
        Err(KeyError::Invalid { reason: SelectError::Undecodable { call, reason }, .. }) => {
            assert!(expression.contains(&call), "{call}");
            reason
        }
        other => panic!("{expression} on {body}: {other:?}"),
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("in memory")
}

fn quoted(bytes: &[u8]) -> String {
    format!("\"{}\"", STANDARD.encode(bytes))
}

const JSON: &str = "powertools_json(body).id";
const BASE64: &str = "powertools_json(powertools_base64(body)).id";
const GZIP: &str = "powertools_json(powertools_base64_gzip(body)).id";

#[test]
fn data_is_found_inside_strings() {
    assert_eq!(key(JSON, r#""{\"id\":5}""#).unwrap(), "5");
    assert_eq!(key(BASE64, &quoted(br#"{"id":5}"#)).unwrap(), "5");
    assert_eq!(key(GZIP, &quoted(&gzip(br#"{"id":5}"#))).unwrap(), "5");
    assert_eq!(key("powertools_base64(body)", &quoted("ä".as_bytes())).unwrap(), "\"ä\"");
}

#[test]
fn a_body_that_is_null_is_a_missing_key() {
    for expression in [JSON, BASE64, GZIP] {
        let error = key(expression, "null").unwrap_err();
        assert!(matches!(error, KeyError::Missing { .. }), "{error}");
    }
}

#[test]
fn a_body_of_another_type_is_a_typed_error() {
    for expression in [JSON, BASE64, GZIP] {
        for body in ["5", "true", "{}", "[]"] {
            let error = key(expression, body).unwrap_err();
            let wrong = matches!(
                &error,
                KeyError::Invalid { reason: SelectError::WrongType { argument: 1, .. }, .. }
            );
            assert!(wrong, "{error}");
        }
    }
}

#[test]
fn a_body_that_cannot_be_decoded_is_a_typed_error() {
    assert!(matches!(reason(JSON, r#""plain""#), DecodeReason::Json(_)));
    assert!(matches!(reason(JSON, r#""""#), DecodeReason::Json(_)));
    assert_eq!(reason(BASE64, r#""no base64!""#), DecodeReason::Base64);
    assert_eq!(reason(BASE64, &quoted(&[0xff, 0xfe])), DecodeReason::NotText);
    assert_eq!(reason(GZIP, &quoted(b"plain")), DecodeReason::Gzip);
    let whole = gzip(br#"{"id":5}"#);
    for length in 0..whole.len() {
        assert_eq!(reason(GZIP, &quoted(&whole[..length])), DecodeReason::Gzip, "{length}");
    }
}

#[test]
fn a_gzip_bomb_is_stopped_at_its_limit() {
    let bomb = quoted(&gzip(&vec![b' '; 10 << 20]));
    assert_eq!(reason(GZIP, &bomb), DecodeReason::TooLarge { limit: 8 << 20 });
}

#[test]
fn what_is_inside_a_string_is_as_strict_as_the_event() {
    let deep = "[".repeat(200) + &"]".repeat(200);
    assert!(matches!(reason("powertools_json(body)", &format!("\"{deep}\"")), DecodeReason::Json(_)));
    assert!(key("powertools_json(body)", r#""{\"a\":1,\"a\":2}""#).is_err());
}
