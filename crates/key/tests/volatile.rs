//! Values that are new at every delivery are refused as keys, with the reason.

use lambda_idempotency_key::{Expression, Key};

#[test]
fn what_changes_with_each_delivery_is_refused() {
    for text in [
        "receiptHandle",
        "Records[0].receiptHandle",
        "Records[*].receiptHandle",
        "Records[].receiptHandle | [0]",
        "[order_id, receiptHandle]",
        "{a: order_id, b: receiptHandle}",
        "attributes.ApproximateReceiveCount",
        "Records[0].attributes.ApproximateFirstReceiveTimestamp",
        "attributes | ApproximateReceiveCount",
        "requestContext.requestId",
        "requestContext.[requestId, stage]",
        "requestContext.extendedRequestId",
        "requestContext.timeEpoch",
        "order_id || requestContext.requestId",
        "not_null(order_id, requestContext).requestId",
        "Records[0].messageId",
        "Records[?body].messageId",
        "map(&messageId, Records)",
        "sort_by(Records, &messageId)",
        "Records[0].Sns.MessageId",
        "Records[0].kinesis.sequenceNumber",
        "to_string(receiptHandle)",
        "header(headers, 'X-Amzn-Trace-Id')",
        "header(multiValueHeaders || headers, 'x-amzn-trace-id')",
        r#"headers."x-amzn-trace-id""#,
        r#"multiValueHeaders."X-Amzn-Trace-Id"[0]"#,
        r#""aws.scheduler.execution-id""#,
    ] {
        let error = Key::parse(text).expect_err(text);
        assert!(error.to_string().contains("is no key"), "{error}");
        assert!(error.cure().is_some_and(|cure| cure.contains("parse_allowing_volatile")));
        let allowed = Key::parse_allowing_volatile(text).expect("allowed");
        assert_eq!(allowed.as_str(), text);
        assert!(Expression::parse(text).is_ok());
    }
}

#[test]
fn the_place_of_the_volatile_part_is_shown() {
    let error = Key::parse("[order_id, requestContext.requestId]").unwrap_err();
    assert_eq!(error.offset(), 26);
    assert!(error.problem().starts_with("`requestContext.requestId` is no key"), "{error}");
}

#[test]
fn the_same_names_elsewhere_are_the_users_own() {
    for text in [
        "messageId",
        "order.receiptHandle",
        "powertools_json(body).receiptHandle",
        "powertools_json(body).requestContext.requestId",
        "powertools_json(Records[0].body).messageId",
        "requestContext.authorizer.sub",
        "requestContext.stage",
        "attributes.MessageDeduplicationId",
        "header(headers, 'idempotency-key')",
        "items[].messageId",
        "'receiptHandle'",
        "requestId",
        "id",
        "@",
    ] {
        assert!(Key::parse(text).is_ok(), "{text}: {}", Key::parse(text).unwrap_err());
    }
}
