//! Values that are new at every delivery are refused as keys, with the reason.

#[path = "volatile/deliveries.rs"]
mod deliveries;

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
        "Records[0].Sns.Timestamp",
        "Records[0].attributes.SentTimestamp",
        "[order_id, attributes.SequenceNumber]",
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

/// What an expression builds and takes apart again leads to where its parts came from.
#[test]
fn what_is_taken_out_of_what_the_expression_built_is_refused() {
    for (text, offset) in [
        ("[requestContext][0]", 1),
        ("[order_id, requestContext][-1]", 11),
        ("[[receiptHandle]][0][0]", 2),
        ("[requestContext.requestId][0]", 16),
        ("[requestContext][0].requestId", 20),
        ("[order_id, requestContext] | [1]", 11),
        ("[order_id, requestContext][1:] | [0]", 11),
        ("[order_id, requestContext][::-1] | [0]", 11),
        ("[requestContext][]", 1),
        ("[[order_id], [requestContext]][] | [1]", 14),
        ("[[requestContext]][0][]", 2),
        ("[Records][].messageId", 12),
        ("[requestContext][?stage]", 1),
        ("[requestContext][?stage].requestId", 25),
        ("[requestContext][*].requestId", 20),
        ("{a: requestContext}.a", 4),
        ("{a: requestContext.requestId}.a", 19),
        ("{a: {b: requestContext}}.a.b", 8),
        ("{a: requestContext}.a.requestId", 22),
        ("{a: Records[0]}.*", 4),
        ("{a: Records[0]}.* | [0].messageId", 24),
        ("{a: Records[0]}.a.[body, receiptHandle]", 25),
        ("{b: order_id, a: requestContext} | values(@)[0]", 17),
        ("@ | requestContext", 4),
        ("(requestContext)", 1),
        ("(requestContext).requestId", 17),
        ("[@][0].requestContext", 7),
        ("{event: @}.event.requestContext.requestId", 32),
        ("`1` && requestContext", 7),
        ("['x', requestContext][1]", 6),
        ("to_array(requestContext)[0]", 9),
        ("to_array(requestContext)[0].requestId", 28),
        ("to_array([order_id, requestContext])[1]", 20),
        ("not_null(`null`, requestContext)", 17),
        ("not_null([requestContext], order_id)[0]", 10),
        ("merge(requestContext, {a: b})", 6),
        ("merge({a: b}, {c: requestContext}).c", 18),
        ("merge(@, {a: b}).requestContext", 17),
        ("values(requestContext)", 7),
        ("values({a: requestContext})[0]", 11),
        ("values(merge({a: order_id}, {b: requestContext}))[1]", 32),
        ("map(&requestContext, [@])", 5),
        ("map(&@, [requestContext])[0]", 9),
        ("map(&{a: requestId}, [requestContext])[0].a", 9),
        ("reverse([requestContext])[0]", 9),
        ("reverse([requestContext, order_id])[1]", 9),
        ("reverse(receiptHandle)", 8),
        ("sort([requestContext.requestId, order_id])[1]", 21),
        ("sort_by([requestContext], &stage)[0]", 9),
        ("max([order_id, receiptHandle])", 15),
        ("min_by([requestContext], &stage).requestId", 33),
        ("join('-', [order_id, receiptHandle])", 21),
        ("sum([qty, to_number(attributes.ApproximateReceiveCount)])", 31),
        ("header({a: receiptHandle}, 'A')", 11),
        ("header({a: [receiptHandle]}, 'a')", 12),
        ("header(merge(headers, {a: b}), 'x-amzn-trace-id')", 0),
        ("powertools_json(to_string(requestContext)).requestId", 43),
        ("powertools_json(to_string(to_string([Records])))[0]", 37),
        ("powertools_base64(receiptHandle)", 18),
        ("length(to_string(requestContext))", 17),
        ("Records[0].*.ApproximateReceiveCount", 13),
        ("values(Records[0])[*].ApproximateReceiveCount", 22),
        ("[a, [b, {c: requestContext}]][1] | [1].c | @", 12),
    ] {
        let error = Key::parse(text).expect_err(text);
        assert!(error.to_string().contains("is no key"), "{error}");
        assert_eq!(error.offset(), offset, "{error}");
    }
}

#[test]
fn what_is_left_behind_in_what_the_expression_built_is_no_part_of_the_key() {
    for text in [
        "{a: requestContext, b: order_id}.b",
        "{a: receiptHandle, b: order_id}.b",
        r#"{a: id, b: "detail-type"}.b"#,
        "{a: requestContext}.b",
        "{a: requestContext}.a.stage",
        "{requestContext: order_id}.requestContext",
        "{receiptHandle: order_id} | receiptHandle",
        "[requestContext, order_id][1]",
        "[requestContext, order_id] | [-1]",
        "[requestContext, order_id][1:]",
        "[requestContext, order_id][1:] | [0]",
        "[requestContext, order_id, Records][1:-1]",
        "[order_id, requestContext, version][::2]",
        "[order_id, requestContext][-2::-1]",
        "[[requestContext, order_id]][0][1]",
        "[requestContext, order_id][0].stage",
        "[requestContext][*].stage",
        "[requestContext][].authorizer.sub",
        "[Records][].body",
        "reverse([requestContext, order_id])[0]",
        "to_array(requestContext)[0].stage",
        "to_array([requestContext, order_id])[1]",
        "merge(requestContext, {a: b}).stage",
        "map(&requestContext.stage, [@])",
        "sort_by([requestContext], &stage)[0].stage",
        "header({a: requestContext, b: order_id}, 'B')",
        "powertools_json(to_string(requestContext)).stage",
        "[@][0].order_id",
        "keys({a: requestContext})",
        "length([requestContext, receiptHandle])",
        "length(Records[].messageId)",
        "type(receiptHandle)",
    ] {
        assert!(Key::parse(text).is_ok(), "{text}: {}", Key::parse(text).unwrap_err());
    }
}

/// An order only says which comes first. Records come in any order as it is, and a handler takes one.
#[test]
fn records_may_be_ordered_by_what_is_no_key() {
    for text in [
        "sort_by(Records, &messageId)[0].body",
        "sort_by(Records, &receiptHandle)[*].powertools_json(body).order_id",
        "max_by(Records, &attributes.SentTimestamp).body",
        "min_by(Records, &attributes.ApproximateFirstReceiveTimestamp).body",
        "max_by(Records, &kinesis.sequenceNumber).kinesis.data",
        "max_by(Records[].{at: messageId, work: body}, &at).work",
        "sort_by(items, &messageId)[0].id",
    ] {
        assert!(Key::parse(text).is_ok(), "{text}: {}", Key::parse(text).unwrap_err());
    }
    for (text, offset) in [
        // What is ordered becomes part of the key.
        ("sort_by(Records, &body)", 8),
        ("max_by(Records, &messageId)", 7),
        ("sort_by(Records, &body)[0].messageId", 27),
        ("sort(Records[].messageId)", 15),
        // A list of the expression's own always has several, of which another one is chosen each time.
        ("max_by([{by: requestContext.requestId, is: a}, {by: 'm', is: b}], &by).is", 28),
        ("min_by([requestContext, order], &to_string(@)).id", 8),
    ] {
        let error = Key::parse(text).expect_err(text);
        assert_eq!(error.offset(), offset, "{error}");
    }
}

/// A volatile value changes, but it is there each time.
#[test]
fn a_choice_may_depend_on_whether_something_is_there_but_not_on_what_it_is() {
    for text in [
        "Records[?messageId].body",
        "Records[?messageId != `null`].body",
        "Records[?!receiptHandle].body",
        "Records[?receiptHandle && eventSource == 'aws:sqs'].body",
        "Records[?attributes.ApproximateReceiveCount != ''].body",
        "receiptHandle && order_id",
        "requestContext == `null` && order_id",
        "[order_id, requestContext != `null`]",
        "Records[?contains(['aws:sqs'], eventSource)].body",
        "{a: Records[?messageId == 'x'], b: order_id}.b",
        "[receiptHandle == 'x', order_id][1]",
        r#"["detail-type", detail.id == 'x']"#,
    ] {
        assert!(Key::parse(text).is_ok(), "{text}: {}", Key::parse(text).unwrap_err());
    }
    for (text, offset) in [
        ("Records[?messageId == 'x'].body", 9),
        ("Records[?messageId != 'x'] | [0].body", 9),
        ("Records[?'x' == messageId].body", 16),
        ("Records[?starts_with(messageId, 'x')].body", 21),
        ("Records[?!(messageId == 'x')].body", 11),
        ("Records[?body && messageId == 'x'].body", 17),
        ("Records[?attributes.ApproximateReceiveCount == '1'].body", 20),
        ("Records[?to_number(attributes.ApproximateReceiveCount) > `1`].body", 30),
        ("map(&body, Records[?messageId == 'x'])", 20),
        ("length(Records[?messageId == 'x'])", 16),
        ("Records[?messageId == 'x'] && order_id", 9),
        ("attributes.ApproximateReceiveCount == '1' && order_id", 11),
        ("[order_id, receiptHandle == 'x']", 11),
        ("contains([receiptHandle], 'x') && order_id", 10),
        ("contains(to_string(requestContext), 'x') && order_id", 19),
        (r#"["detail-type", id == 'x']"#, 16),
    ] {
        let error = Key::parse(text).expect_err(text);
        assert_eq!(error.offset(), offset, "{error}");
        assert!(error.problem().contains("is no key, and none can depend on it"), "{error}");
    }
}

/// No expression makes the check grow out of proportion, or loses what is volatile in a crowd.
#[test]
fn the_longest_expressions_are_checked_at_once() {
    let nested = |open: &str, close: &str, levels| {
        format!("{}requestContext{}", open.repeat(levels), close.repeat(levels))
    };
    let piped = |part: &str, levels| format!("requestContext{}", format!(" | {part}").repeat(levels));
    let wide = |first: &str, part: &str, last: &str| {
        format!("{first}{}{last}", part.repeat((4096 - first.len() - last.len()) / part.len()))
    };
    let several = |part: fn(usize) -> String, separator: &str, count| {
        (0..count).map(part).collect::<Vec<_>>().join(separator)
    };
    for text in [
        nested("[@, @, @, ", "]", 98),
        nested("{a: @, b: @, c: ", "}", 98),
        nested("reverse([@, @, @, ", "])", 49),
        nested("not_null(@, [@], {a: @}, ", ")", 98),
        nested("map(&[@, @], [@, @, ", "])", 32),
        piped("[@, @, @, @, @, @, @, @, @]", 90),
        piped("{a: @, b: [@, @], c: {d: @}}", 90),
        piped("[@, [@], {a: @}][]", 90),
        piped("not_null(@, [@], {a: @}, [[@]])", 90),
        piped("[?@ == [@, @]]", 90),
        wide("[requestContext", ", @", "] | sort(@) | [@, @][]"),
        wide("requestContext | [@", ", @", "] | reverse(@)[-1:0:-1]"),
        format!("[{}, requestContext]", several(|i| format!("requestContext.x{i}"), ", ", 150)),
        format!("not_null({}, requestContext)", several(|i| format!("x{i}"), ", ", 150)),
        format!("[{}]", several(|i| format!("attributes.ApproximateX{i}"), ", ", 130)),
        format!("[{}]", several(|i| format!("attributes.Approximate == 'x{i}'"), ", ", 90)),
    ] {
        assert!(text.len() <= 4096, "{}: {text}", text.len());
        let begin = std::time::Instant::now();
        let error = Key::parse(&text).expect_err(&text);
        // A few milliseconds, and out of all proportion if a part were looked at more than once.
        assert!(begin.elapsed() < std::time::Duration::from_secs(5), "{:?}: {text}", begin.elapsed());
        assert!(error.problem().contains("is no key"), "{error}");
    }
}
