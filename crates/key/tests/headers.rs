//! One way to name a header behind API Gateway v1 and v2, function URLs and load balancers.

use lambda_idempotency_key::Key;

mod fixtures;

const KEY: &str = "header(multiValueHeaders || headers, 'Idempotency-Key')";

#[test]
fn a_header_is_found_in_any_case() {
    let key = Key::parse(KEY).unwrap();
    let of = |json: &str| key.of(json).expect(json).as_str().to_owned();
    for json in [
        r#"{"headers":{"Idempotency-Key":"k1"}}"#,
        r#"{"headers":{"idempotency-key":"k1","other":"x"}}"#,
        r#"{"headers":{"IDEMPOTENCY-KEY":"k1"}}"#,
        r#"{"headers":{"Idempotency-Key":"k1","idempotency-key":"k1"}}"#,
        r#"{"multiValueHeaders":{"Idempotency-Key":["k1"]}}"#,
        r#"{"headers":null,"multiValueHeaders":{"idempotency-key":["k1","k1"]}}"#,
    ] {
        assert_eq!(of(json), r#""k1""#);
    }
}

#[test]
fn the_two_names_can_also_be_written_out() {
    let key = Key::parse(r#"headers."Idempotency-Key" || headers."idempotency-key""#).unwrap();
    let a = key.of(r#"{"headers":{"Idempotency-Key":"k1"}}"#).unwrap();
    assert_eq!(a, key.of(r#"{"headers":{"idempotency-key":"k1"}}"#).unwrap());
}

#[test]
fn a_header_that_is_not_there_is_a_missing_key_and_two_values_are_an_error() {
    let key = Key::parse(KEY).unwrap();
    for json in [r#"{}"#, r#"{"headers":{}}"#, r#"{"headers":{"idempotency-key":""}}"#] {
        let error = key.of(json).unwrap_err().to_string();
        assert!(error.contains("selects nothing"), "{error}");
    }
    for json in [
        r#"{"headers":{"Idempotency-Key":"a","idempotency-key":"b"}}"#,
        r#"{"multiValueHeaders":{"idempotency-key":["a","b"]}}"#,
        // As a REST API hands it over: the last one, and all of them.
        r#"{"headers":{"Idempotency-Key":"b"},"multiValueHeaders":{"Idempotency-Key":["a","b"]}}"#,
    ] {
        let error = key.of(json).unwrap_err().to_string();
        assert!(error.contains("sent more than once"), "{error}");
    }
    assert!(key.of(r#"{"headers":"text"}"#).unwrap_err().to_string().contains("object of headers"));
}

#[test]
fn the_same_expression_works_on_the_events_of_all_four() {
    let host = Key::parse("header(multiValueHeaders || headers, 'HOST')").unwrap();
    for file in [
        "example-apigw-request",
        "example-apigw-v2-request-no-authorizer",
        "example-alb-lambda-target-request-headers-only",
        "example-alb-lambda-target-request-multivalue-headers",
    ] {
        let event = fixtures::event(file);
        let value = host.of(&event).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(value.as_str().starts_with('"'), "{file}");
    }
}

#[test]
fn a_header_of_a_function_url_is_found_as_those_of_the_others_are() {
    for name in ["Content-Type", "content-type", "CONTENT-TYPE"] {
        let key = Key::parse(&format!("header(multiValueHeaders || headers, '{name}')")).unwrap();
        assert_eq!(key.of(fixtures::FUNCTION_URL).unwrap().as_str(), r#""application/json""#);
    }
}
