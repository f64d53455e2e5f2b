//! Values that are new at every delivery are refused as keys, with the reason.

use lambda_idempotency_key::{Expression, Key};

#[test]
fn what_changes_with_each_delivery_is_refused() {
    for text in [
        "receiptHandle",
        "Records[0].receiptHandle",
        "Records[*].receiptHandle",
        "Records[].receiptHandle | [0]",
        "Records[*] | [0].receiptHandle",
        "Records[0:1] | [0].messageId",
        "Records[?eventSource == 'aws:sqs'] | [0].messageId",
        "Records[*].attributes | [0].ApproximateReceiveCount",
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

/// An object that holds such a value is as new as the value.
#[test]
fn what_holds_what_changes_with_each_delivery_is_refused_as_a_whole() {
    for text in [
        "requestContext",
        "requestContext.*",
        "requestContext.* | [0]",
        "requestContext[]",
        "values(requestContext)",
        "to_string(requestContext)",
        "to_array(requestContext)",
        "merge(requestContext, {a: order_id})",
        "[order_id, requestContext]",
        "{a: order_id, b: requestContext}",
        "order_id || requestContext",
        "not_null(order_id, requestContext)",
        "multiValueHeaders",
        "[requestContext.stage, headers]",
        "[httpMethod, headers]",
        "{path: rawPath, headers: headers.*}",
        "Records",
        "Records[0]",
        "Records[-1]",
        "Records[*]",
        "Records[]",
        "Records[0:1]",
        "Records[0].*",
        "Records[?eventSource == 'aws:sqs']",
        "Records | [0]",
        "max_by(Records, &eventSource)",
        "map(&@, Records)",
        "map(&attributes, Records)",
        "Records[0].attributes",
        "Records[*].attributes.*",
        "[eventSourceARN, attributes]",
        "Records[0].Sns",
        "Records[0].kinesis",
        r#"["detail-type", id]"#,
    ] {
        let error = Key::parse(text).expect_err(text);
        assert!(error.to_string().contains("is no key"), "{error}");
        assert!(error.cure().is_some_and(|cure| cure.contains("allow_volatile_key")));
        assert!(Key::parse_allowing_volatile(text).is_ok());
    }
    let error = Key::parse("[order_id, requestContext.*]").unwrap_err();
    assert_eq!(error.offset(), 11);
    assert!(error.cure().is_some_and(|cure| cure.contains("requestContext.authorizer.sub")), "{error}");
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
        // Plain names are known only by what stands beside them.
        "attributes",
        "attributes.*",
        "[order_id, attributes]",
        "headers",
        "[headers, rows]",
        "kinesis",
        "Sns",
        "[id, source, detail]",
        r#"["detail-type", detail.id]"#,
        // The tick of a schedule.
        r#"["detail-type", resources[0], time]"#,
        "order.requestContext",
        "powertools_json(body).requestContext",
        "[requestContext.http.method, rawPath]",
        "[httpMethod, header(headers, 'idempotency-key')]",
        // Only what becomes part of the key counts.
        "keys(requestContext)",
        "length(Records)",
        "requestContext && order_id == `1`",
        "Records[?attributes].dynamodb.Keys",
        "Records[0].body",
        "Records[0].dynamodb",
        "Records[*].s3.object",
        "Records[0].attributes.MessageDeduplicationId",
    ] {
        assert!(Key::parse(text).is_ok(), "{text}: {}", Key::parse(text).unwrap_err());
    }
}
