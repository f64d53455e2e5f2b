//! Which service sent an event, and what of it two deliveries have in common.

use lambda_idempotency_key::Fingerprint;
use lambda_idempotency_key::source::{Source, recognise, record_count};

mod fixtures;

const EVENTS: [(&str, Source); 14] = [
    ("example-sqs-event", Source::Sqs),
    ("example-sns-event", Source::Sns),
    ("example-kinesis-event", Source::Kinesis),
    ("example-dynamodb-event", Source::DynamoDbStream),
    ("example-s3-event", Source::S3),
    ("example-eventbridge-schedule", Source::EventBridge),
    ("example-codepipeline-execution-state-change-event", Source::EventBridge),
    ("example-apigw-request", Source::ApiGatewayV1),
    ("example-apigw-sam-rest-request", Source::ApiGatewayV1),
    ("example-apigw-v2-request-iam", Source::ApiGatewayV2),
    ("example-apigw-v2-request-no-authorizer", Source::ApiGatewayV2),
    ("example-alb-lambda-target-request-headers-only", Source::Alb),
    ("example-alb-lambda-target-request-multivalue-headers", Source::Alb),
    ("example-apigw-console-test-request", Source::ApiGatewayV1),
];

fn validation(json: &str) -> String {
    let taken = Fingerprint::Whole.of(json).expect("valid");
    taken.expect("not off").as_str().to_owned()
}

#[test]
fn the_example_events_are_recognised() {
    for (file, source) in EVENTS {
        assert_eq!(recognise(&fixtures::event(file)).unwrap(), Some(source), "{file}");
    }
    assert_eq!(recognise(fixtures::FUNCTION_URL).unwrap(), Some(Source::FunctionUrl));
}

#[test]
fn other_events_and_answers_are_not() {
    for file in [
        "example-sqs-batch-response",
        "example-sqs-api-event-obj",
        "example-apigw-response",
        "example-alb-lambda-target-response",
        "example-apigw-custom-auth-request-type-request",
        "example-apigw-v2-custom-authorizer-v2-request",
        "example-apigw-websocket-request",
        "example-kinesis-firehose-event",
        "example-ses-event",
        "example-cognito-event",
    ] {
        assert_eq!(recognise(&fixtures::event(file)).unwrap(), None, "{file}");
    }
}

#[test]
fn a_payload_that_only_looks_like_an_event_is_the_users_own() {
    for json in [
        r#"{"Records":[]}"#,
        r#"{"Records":[{"eventSource":"aws:sqs","body":"x"}]}"#,
        r#"{"Records":"x"}"#,
        r#"{"eventSource":"aws:sqs","messageId":"m","receiptHandle":"r","body":"x","attributes":{}}"#,
        r#"{"eventSource":"aws:sqs","messageId":1,"receiptHandle":"r","body":"x","attributes":{},"eventSourceARN":"arn:x"}"#,
        r#"{"source":"me","detail-type":"x","detail":{"a":1}}"#,
        r#"{"version":"0","id":"1","detail-type":"x","source":"me","account":"42","time":"t","region":"r","resources":[],"detail":{}}"#,
        r#"{"version":"0","id":"1","detail-type":"x","source":"me","account":"123456789012","time":"t","region":"r","resources":[],"detail":{},"mine":1}"#,
        r#"{"requestContext":{"http":{"method":"GET","path":"/"}},"rawPath":"/"}"#,
        r#"{"requestContext":{"elb":{"targetGroupArn":"mine"}},"httpMethod":"GET","path":"/"}"#,
        r#"{"requestContext":{"elb":{"targetGroupArn":"arn:mine"}},"httpMethod":"GET","path":"/"}"#,
        r#"{"httpMethod":"GET","path":"/","body":"x"}"#,
        r#"{"eventSource":"aws:s3","s3":{"bucket":{},"object":{}}}"#,
        "[]",
        "1",
    ] {
        assert_eq!(recognise(json).unwrap(), None, "{json}");
        assert_eq!(record_count(json).unwrap(), None, "{json}");
    }
    // One record of the user's own among real ones: the whole is the user's own.
    let real = fixtures::event("example-sqs-event");
    let mixed = real.trim_end().trim_end_matches('}').trim_end().trim_end_matches(']').to_owned();
    assert_eq!(recognise(&(mixed + r#",{"mine":1}]}"#)).unwrap(), None);
}

#[test]
fn records_are_counted_and_one_stands_for_its_event() {
    let sqs = fixtures::event("example-sqs-event");
    assert_eq!(record_count(&sqs).unwrap(), Some(1));
    assert_eq!(record_count(&fixtures::event("example-kinesis-event")).unwrap(), Some(2));
    assert_eq!(record_count(&fixtures::event("example-apigw-request")).unwrap(), None);
    let start = sqs.find('[').unwrap() + 1;
    let record = &sqs[start..sqs.rfind(']').unwrap()];
    assert_eq!(recognise(record).unwrap(), Some(Source::Sqs));
    assert_eq!(record_count(record).unwrap(), None);
    assert_eq!(validation(record), validation(&sqs));
}

/// An event, a second delivery of it, and one that asks for something else.
fn deliveries(event: &str, volatile: &[(&str, &str)], asked: (&str, &str)) {
    compared(event, &fixtures::event(event), volatile, asked);
}

fn compared(event: &str, first: &str, volatile: &[(&str, &str)], asked: (&str, &str)) {
    let mut second = first.to_owned();
    for (from, to) in volatile {
        assert!(first.contains(from), "{event} has no {from}");
        second = second.replace(from, to);
    }
    assert_ne!(first, second);
    assert!(first.contains(asked.0), "{event} has no {}", asked.0);
    let other = first.replacen(asked.0, asked.1, 1);
    assert_eq!(validation(first), validation(&second), "{event}: two deliveries");
    assert_ne!(validation(first), validation(&other), "{event}: other content");
    assert_eq!(validation(first)[..11], validation(&other)[..11], "{event}: one rule");
}

#[test]
fn two_deliveries_have_one_fingerprint_and_other_content_another() {
    deliveries(
        "example-sqs-event",
        &[("MessageID_1", "m2"), ("MessageReceiptHandle", "r2"), (r#": "2""#, r#": "3""#)],
        ("Message Body", "Another Body"),
    );
    deliveries(
        "example-sns-event",
        &[("82833b5c-8d5d", "92833b5c-8d5d"), ("2015-08-18T18:02:32", "2015-08-18T18:09:00")],
        ("Hello", "Goodbye"),
    );
    deliveries(
        "example-kinesis-event",
        &[("1480641523.477", "1480641599.477"), ("49568167373333333333", "49568167379999999999")],
        ("SGVsbG8gV29ybGQ=", "SGVsbG8="),
    );
    deliveries("example-s3-event", &[("C3D13FE58DE4C810", "X")], ("Happy%20Face.jpg", "Sad.jpg"));
    deliveries("example-s3-event", &[("1970-01-01", "1970-01-02")], ("Happy Sequencer", "Next"));
    for asked in [
        ("INSERT", "MODIFY"),
        // The first of each: in Keys, in NewImage.
        (r#""S": "data""#, r#""S": "other""#),
        (r#""B": "AAEqQQ==""#, r#""B": "AAEq""#),
        (r#""SizeBytes": 54"#, r#""OldImage": {"val": {"S": "before"}}, "SizeBytes": 54"#),
    ] {
        deliveries("example-dynamodb-event", &[("1480642020", "1480642021")], asked);
    }
    deliveries("example-apigw-request", &[("deef4878", "beef4878")], ("/hello", "/bye"));
    deliveries(
        "example-apigw-v2-request-iam",
        &[(r#""requestId": "id""#, r#""requestId": "x""#)],
        ("GET", "DELETE"),
    );
    for asked in [
        (r#""method": "POST""#, r#""method": "PUT""#),
        (r#""rawPath": "/orders/77""#, r#""rawPath": "/orders/78""#),
        ("version=3", "version=4"),
        ("15s teaser", "30s teaser"),
    ] {
        let volatile = [
            ("e1506fd5-9e7b", "f1506fd5-9e7b"),
            ("Root=1-67891233", "Root=1-67891234"),
            ("07:25:00", "07:25:09"),
            ("1795937100000", "1795937109000"),
            ("192.0.2.1", "192.0.2.2"),
            ("session=1", "session=2"),
        ];
        compared("function URL", fixtures::FUNCTION_URL, &volatile, asked);
    }
    deliveries(
        "example-alb-lambda-target-request-headers-only",
        &[("Root=1-5c34e93e", "Root=1-5c34e93f")],
        ("\"path\": \"/\"", "\"path\": \"/x\""),
    );
    deliveries(
        "example-codepipeline-execution-state-change-event",
        &[("CWE-event-id", "another-id")],
        ("STARTED", "FAILED"),
    );
}
