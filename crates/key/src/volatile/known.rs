//! What is new at every delivery, by its place in an AWS event.
//!
//! A path begins at the input, or at a record of `Records`. A bare name that a user's own payload may
//! have as well counts only where the same expression names a member that AWS alone writes.

use super::places::{ANY, ELEMENT};

const DELIVERY: &str = "it is new at every delivery";
const REQUEST: &str = "it is new for every request, so a retry has another";
const BROKER: &str = "it is the broker's: the producer's second send, and a message that comes \
                      back from a dead-letter queue, have another";

/// Single values, and why each is no key. A `*` at the end of a name stands for any rest.
const VALUES: [(&[&str], &str); 22] = [
    (&["receiptHandle"], DELIVERY),
    (&["attributes", "Approximate*"], DELIVERY),
    (&["kinesis", "approximateArrivalTimestamp"], BROKER),
    (&["Records", ELEMENT, "messageId"], BROKER),
    (&["attributes", "SentTimestamp"], BROKER),
    (&["attributes", "SequenceNumber"], BROKER),
    (&["attributes", "AWSTraceHeader"], BROKER),
    (&["Sns", "MessageId"], BROKER),
    (&["Sns", "Timestamp"], BROKER),
    (&["kinesis", "sequenceNumber"], BROKER),
    (&["requestContext", "requestId"], REQUEST),
    (&["requestContext", "extendedRequestId"], REQUEST),
    (&["requestContext", "requestTime"], REQUEST),
    (&["requestContext", "requestTimeEpoch"], REQUEST),
    (&["requestContext", "time"], REQUEST),
    (&["requestContext", "timeEpoch"], REQUEST),
    (&["headers", "x-amzn-trace-id"], REQUEST),
    (&["headers", "x-amzn-requestid"], REQUEST),
    (&["headers", "x-amz-cf-id"], REQUEST),
    (&["aws.scheduler.execution-id"], DELIVERY),
    (&["<aws.scheduler.execution-id>"], DELIVERY),
    (&["aws.scheduler.attempt-number"], DELIVERY),
];

/// The id of an event on a bus, under a name that anybody's payload has.
///
/// Its `time` is none of these: it is the tick of a schedule, and may be the producer's own.
const BUS_ID: (&str, &str) = ("id", "detail-type");

/// By what it is sure that AWS wrote it.
enum By {
    Name,
    /// The expression names one of these members of the input as well.
    Beside(&'static [&'static str]),
    /// It is a member of an element of `Records`, or of an input that is such a record by its members.
    Record,
}

/// The members by which a record is known that was taken out of `Records`.
const RECORD: [&str; 4] = ["eventSource", "EventSource", "eventSourceARN", "EventSubscriptionArn"];

/// What holds such a value, so that the whole of it is no key.
struct Whole {
    path: &'static [&'static str],
    known: By,
    reason: &'static str,
    cure: &'static str,
}

const REQUEST_CONTEXT: Whole = Whole {
    path: &["requestContext"],
    known: By::Name,
    reason: "it holds `requestId` and the time, which are new for every request",
    cure: "name the member that is meant, as in `requestContext.authorizer.sub`",
};

const HEADERS: Whole = Whole {
    path: &["headers"],
    known: By::Beside(&[
        "requestContext",
        "multiValueHeaders",
        "multiValueQueryStringParameters",
        "queryStringParameters",
        "pathParameters",
        "stageVariables",
        "isBase64Encoded",
        "httpMethod",
        "rawPath",
        "rawQueryString",
        "routeKey",
    ]),
    reason: "it holds `x-amzn-trace-id`, which is new for every request",
    cure: "name the header that is meant, as in `header(headers, 'idempotency-key')`",
};

const ATTRIBUTES: Whole = Whole {
    path: &["attributes"],
    known: By::Record,
    reason: "it holds `ApproximateReceiveCount`, which is new at every delivery",
    cure: "name the member that is meant, as in `attributes.MessageDeduplicationId`",
};

const SNS: Whole = Whole {
    path: &["Sns"],
    known: By::Record,
    reason: "it holds `MessageId` and `Timestamp`, which the producer's second send has not",
    cure: "name what the producer wrote, as in `powertools_json(Sns.Message).order_id`",
};

const KINESIS: Whole = Whole {
    path: &["kinesis"],
    known: By::Record,
    reason: "it holds `sequenceNumber`, which the producer's second send has not",
    cure: "name what the producer wrote, as in `powertools_json(powertools_base64(kinesis.data)).order_id`",
};

const RECORDS: Whole = Whole {
    path: &["Records"],
    known: By::Name,
    reason: "a record holds what is new at every delivery (of SQS, `receiptHandle` and `attributes`), and the \
             broker's own ids",
    cure: "name what the producer wrote, as in `powertools_json(Records[0].body).order_id`",
};

const WHOLES: [Whole; 7] = [
    REQUEST_CONTEXT,
    HEADERS,
    Whole { path: &["multiValueHeaders"], known: By::Name, ..HEADERS },
    ATTRIBUTES,
    SNS,
    KINESIS,
    RECORDS,
];

/// Why the value at `path` is no key.
pub(super) fn value(path: &[&str]) -> Option<&'static str> {
    let is_it = |known: &[&str]| views(path).any(|path| known.len() == path.len() && agrees(known, path));
    // All the values of an object are the object.
    let is_whole = path.last() == Some(&ANY);
    VALUES.iter().find(|(known, _)| !is_whole && is_it(known)).map(|(_, reason)| *reason)
}

/// Whether the value at `path` can be no key without holding anything: a text or a number, or the id of an event.
pub(super) fn is_scalar(path: &[&str]) -> bool {
    path == [BUS_ID.0] || value(path).is_some()
}

/// Why all of what is at `path` is no key, and what to name instead. `named` tells whether the
/// expression names a member of the input.
pub(super) fn whole(
    path: &[&str],
    named: impl Fn(&str) -> bool,
) -> Option<(&'static str, Option<&'static str>)> {
    let (bus_id, beside) = BUS_ID;
    if path == [bus_id] && named(beside) {
        return Some((BROKER, None));
    }
    let path = container(path);
    let any_named = |names: &[&str]| names.iter().any(|name| named(name));
    let hit = WHOLES.iter().find(|whole| match whole.known {
        By::Name => whole.path == path,
        By::Beside(names) => whole.path == path && any_named(names),
        By::Record => in_record(path) == Some(whole.path) || whole.path == path && any_named(&RECORD),
    });
    hit.map(|whole| (whole.reason, Some(whole.cure)))
}

/// Whether what is at `path` is no key, or can hold what is none.
pub(super) fn leads_on(path: &[&str]) -> bool {
    let path = container(path);
    let leads = |known: &[&str]| views(path).any(|path| known.len() >= path.len() && agrees(known, path));
    VALUES.iter().map(|(known, _)| *known).chain(WHOLES.iter().map(|whole| whole.path)).any(leads)
        || path == [BUS_ID.0]
}

/// What the elements or values are of, if the path ends with one.
fn container<'p, 'e>(mut path: &'p [&'e str]) -> &'p [&'e str] {
    while let [container @ .., ELEMENT | ANY] = path {
        path = container;
    }
    path
}

/// The rest of a path that goes into a record of `Records`.
fn in_record<'p, 'e>(path: &'p [&'e str]) -> Option<&'p [&'e str]> {
    path.strip_prefix(&["Records", ELEMENT])
}

/// A path from the input, and if it goes into a record, from there. Of any member of the input nothing is known: it may
/// be the user's own.
fn views<'p, 'e>(path: &'p [&'e str]) -> impl Iterator<Item = &'p [&'e str]> {
    (path.first() != Some(&ANY)).then_some(path).into_iter().chain(in_record(path))
}

/// Whether a path and a known one are the same as far as both go. Header names have no case.
fn agrees(known: &[&str], path: &[&str]) -> bool {
    let headers = matches!(path.first(), Some(&("headers" | "multiValueHeaders")));
    let step = |(position, (known, step)): (usize, (&&str, &&str))| {
        if headers {
            return position == 0 && *known == "headers" || known.eq_ignore_ascii_case(step);
        }
        match known.strip_suffix('*') {
            _ if *step == ANY => true,
            Some(prefix) => step.starts_with(prefix),
            None => known == step,
        }
    };
    known.iter().zip(path).enumerate().all(step)
}
