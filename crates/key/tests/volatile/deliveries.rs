//! A key that is allowed is the same for two deliveries of the same work, whatever its expression does.

use lambda_idempotency_key::{Key, KeyError};
use proptest::prelude::*;
use proptest::sample::select;

/// One event as it is delivered. Between two deliveries the volatile values differ, also in their order and length.
fn delivery(id: &str, count: u32) -> String {
    format!(
        r#"{{"order": {{"id": "m-1", "tags": ["x", "y"], "requestId": "r"}},
            "requestContext": {{"requestId": "{id}", "timeEpoch": {count}, "stage": "prod", "list": [1, 2]}},
            "headers": {{"x-amzn-trace-id": "{id}", "key": "k"}},
            "multiValueHeaders": {{"X-Amzn-Trace-Id": ["{id}"], "key": ["k"]}},
            "Records": [{{"messageId": "{id}", "receiptHandle": "{id}", "body": "{{\"id\": 1}}",
                "attributes": {{"ApproximateReceiveCount": "{count}", "SentTimestamp": "5"}}}}]}}"#
    )
}

const MEMBERS: [&str; 14] = [
    "order",
    "id",
    "requestContext",
    "requestId",
    "stage",
    "Records",
    "messageId",
    "body",
    "attributes",
    "ApproximateReceiveCount",
    "headers",
    r#""x-amzn-trace-id""#,
    "p",
    "q",
];

const PARTS: [&str; 14] = [
    "Records",
    "Records[0]",
    "Records[0].messageId",
    "Records[*].attributes",
    "Records[?body].receiptHandle",
    "requestContext",
    "requestContext.requestId",
    "requestContext.stage",
    "order.id",
    "order.tags",
    "@",
    "'m'",
    "`1`",
    "`null`",
];

/// What is made of the parts A, B and C and the member F.
const FORMS: [&str; 68] = [
    "(A).F",
    "(A).[B, C]",
    "(A).{p: B, q: C}",
    "[A, B]",
    "{p: A, q: B}",
    "(A) | (B)",
    "(A)[0]",
    "(A)[-1]",
    "(A)[*]",
    "(A)[*].F",
    "(A)[*].[B, C]",
    "(A)[]",
    "(A)[].F",
    "(A).*",
    "(A).*.F",
    "(A)[?B]",
    "(A)[?B].F",
    "(A)[1:]",
    "(A)[::-1]",
    "(A)[0:1].F",
    "(A) || (B)",
    "(A) && (B)",
    "!(A)",
    "(A) == (B)",
    "(A) != (B)",
    "(A) < (B)",
    "[A, B][0]",
    "[A, B][1]",
    "[A, B][1:]",
    "[A, B][::-1] | [0]",
    "{p: A, q: B}.p",
    "{p: A, q: B}.*",
    "keys(A)",
    "values(A)",
    "length(A)",
    "type(A)",
    "to_string(A)",
    "to_array(A)",
    "to_array(A)[0]",
    "to_number(A)",
    "not_null(A, B)",
    "merge(A, B)",
    "merge({p: A}, {q: B})",
    "map(&(A), B)",
    "map(&(A), [B, C])",
    "reverse(A)",
    "reverse([A, B])",
    "sort(A)",
    "sort([A, B])",
    "sort_by(A, &(B))",
    "sort_by([A, B], &(C))",
    "max_by(A, &(B))",
    "max_by([A, B], &(C))",
    "min_by([A, B], &(C))",
    "max(A)",
    "min([A, B])",
    "join('-', A)",
    "join('-', [A, B])",
    "sum(A)",
    "contains(A, B)",
    "starts_with(A, B)",
    "header(A, 'x-amzn-trace-id')",
    "header(A, 'p')",
    "powertools_json(A)",
    "powertools_json(to_string(A))",
    "powertools_base64(A)",
    "(A).p",
    "(A).q",
];

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![1 => select(&MEMBERS[..]), 3 => select(&PARTS[..])].prop_map(str::to_owned);
    leaf.prop_recursive(6, 40, 3, |inner| {
        let parts = (select(&FORMS[..]), [inner.clone(), inner.clone(), inner], select(&MEMBERS[..]));
        parts.prop_map(|(form, [a, b, c], member)| {
            let filled = |sign| match sign {
                'A' => a.clone(),
                'B' => b.clone(),
                'C' => c.clone(),
                'F' => member.to_owned(),
                other => other.to_string(),
            };
            form.chars().map(filled).collect()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_allowed_key_is_the_same_at_the_next_delivery(part in expression()) {
        // The whole input is allowed as a key, and so `@` here is not it, but what makes it an event of AWS.
        let text = format!(
            "{{order: order, requestContext: requestContext, headers: headers, Records: Records,
              multiValueHeaders: multiValueHeaders}} | ({part})"
        );
        if let Ok(key) = Key::parse(&text) {
            let keys = [key.of(&delivery("a1", 1)), key.of(&delivery("z234", 2000))];
            // No key at all is loud: `powertools_base64(receiptHandle)` may be none of any text.
            if !keys.iter().any(|key| matches!(key, Err(KeyError::Invalid { .. }))) {
                prop_assert_eq!(&keys[0], &keys[1], "{}", part);
            }
        }
    }
}
