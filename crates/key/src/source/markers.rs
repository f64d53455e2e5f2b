//! The markers by which an event is known. Strict: every one must be there, in its type.

use std::rc::Rc;

use super::Source;
use crate::json::error::CanonicalError;
use crate::json::node::Node;
use crate::json::text::Text;

/// A recognised event.
pub(super) struct Event<'a> {
    pub(super) source: Source,
    /// Its records, opened; the event itself where it has none.
    pub(super) parts: Vec<Node<'a>>,
    /// Whether the records stood in `Records`.
    pub(super) enveloped: bool,
}

type Found<T> = Result<T, CanonicalError>;

/// How deep an event is opened while it is checked: `Records`, a record, and the object in it.
const DEPTH: usize = 4;

/// Recognises an event, or a record that stands alone.
pub(super) fn event(json: &str) -> Found<Option<Event<'_>>> {
    let root = &Node::parse_to(DEPTH, Text::borrowed(json))?;
    let Node::Object(members) = root else { return Ok(None) };
    if let [only] = members.as_slice() {
        return if only.name.as_str() == "Records" { envelope(&only.value) } else { Ok(None) };
    }
    let source = match record(root)? {
        Some(source) => Some(source),
        None => match request(root)? {
            Some(source) => Some(source),
            None => bridge(root)?,
        },
    };
    let parts = vec![root.clone()];
    Ok(source.map(|source| Event { source, parts, enveloped: false }))
}

/// `Records`, if all of them come from one source.
fn envelope<'a>(records: &Node<'a>) -> Found<Option<Event<'a>>> {
    let Node::Array(records) = records.open()? else { return Ok(None) };
    let mut parts = Vec::new();
    let mut common = None;
    for node in records.iter() {
        let node = node.open()?;
        match record(&node)? {
            Some(source) if common.is_none_or(|common| common == source) => common = Some(source),
            _ => return Ok(None),
        }
        parts.push(node);
    }
    Ok(common.map(|source| Event { source, parts, enveloped: true }))
}

/// One record of SQS, SNS, Kinesis, a DynamoDB stream or S3.
fn record(record: &Node<'_>) -> Found<Option<Source>> {
    let text = text(record, "eventSource")?.or(text(record, "EventSource")?);
    let (source, strings, object, inner): (_, &[_], _, &[_]) = match text.as_deref() {
        Some("aws:sqs") => (Source::Sqs, &["messageId", "receiptHandle", "body"], "attributes", &[]),
        Some("aws:sns") => (
            Source::Sns,
            &["EventVersion", "EventSubscriptionArn"],
            "Sns",
            &["Message", "MessageId", "TopicArn"],
        ),
        Some("aws:kinesis") => (
            Source::Kinesis,
            &["eventID", "eventName", "eventSourceARN"],
            "kinesis",
            &["data", "partitionKey", "sequenceNumber"],
        ),
        Some("aws:dynamodb") => (
            Source::DynamoDbStream,
            &["eventID", "eventName", "eventSourceARN"],
            "dynamodb",
            &["SequenceNumber", "StreamViewType"],
        ),
        Some("aws:s3") => {
            (Source::S3, &["eventName", "eventTime", "eventVersion"], "s3", &["s3SchemaVersion"])
        }
        _ => return Ok(None),
    };
    let object = record.member(object)?.open()?;
    let complete = matches!(object, Node::Object(_))
        && all_text(record, strings)?
        && all_text(&object, inner)?
        && match source {
            Source::Sqs => arn(record, "eventSourceARN")?,
            Source::Sns => arn(record, "EventSubscriptionArn")?,
            Source::Kinesis => arn(record, "eventSourceARN")?,
            Source::DynamoDbStream => arn(record, "eventSourceARN")? && is_object(&object, &["Keys"])?,
            _ => is_object(&object, &["bucket"])? && is_object(&object, &["object"])?,
        };
    Ok(complete.then_some(source))
}

/// An HTTP request through API Gateway, a function URL or a load balancer.
fn request(root: &Node<'_>) -> Found<Option<Source>> {
    let context = root.member("requestContext")?.open()?;
    // An authorizer sees the same members, but is asked about the headers; a WebSocket message is
    // about its connection.
    let other = ["methodArn", "routeArn", "identitySource"];
    if !matches!(context, Node::Object(_)) || present(root, &other)? || present(&context, &["connectionId"])?
    {
        return Ok(None);
    }
    if is_object(&context, &["elb"])? {
        let group = text(&context.member("elb")?, "targetGroupArn")?;
        let complete = group.is_some_and(|arn| arn.starts_with("arn:") && arn.contains(":targetgroup/"))
            && all_text(root, &["httpMethod", "path"])?;
        return Ok(complete.then_some(Source::Alb));
    }
    if is_object(&context, &["http"])? {
        let complete = text(root, "version")?.as_deref() == Some("2.0")
            && all_text(root, &["routeKey", "rawPath", "rawQueryString"])?
            && all_text(&context, &["apiId", "domainName", "requestId", "stage"])?
            && all_text(&context.member("http")?, &["method", "path"])?;
        let url = text(&context, "domainName")?.is_some_and(|name| name.contains(".lambda-url."));
        let source = if url { Source::FunctionUrl } else { Source::ApiGatewayV2 };
        return Ok(complete.then_some(source));
    }
    let complete = all_text(root, &["resource", "path", "httpMethod"])?
        && all_text(&context, &["apiId", "requestId", "resourcePath", "stage"])?
        && is_object(&context, &["identity"])?;
    Ok(complete.then_some(Source::ApiGatewayV1))
}

/// The envelope of EventBridge: exactly its members, and the account as AWS writes it.
fn bridge(root: &Node<'_>) -> Found<Option<Source>> {
    const STRINGS: [&str; 7] = ["version", "id", "detail-type", "source", "account", "time", "region"];
    let Node::Object(members) = root else { return Ok(None) };
    let known =
        |name: &str| STRINGS.contains(&name) || matches!(name, "resources" | "detail" | "replay-name");
    let complete = members.iter().all(|member| known(member.name.as_str()))
        && members.iter().any(|member| member.name.as_str() == "detail")
        && all_text(root, &STRINGS)?
        && matches!(root.member("resources")?.open()?, Node::Array(_))
        && text(root, "account")?
            .is_some_and(|account| account.len() == 12 && account.bytes().all(|b| b.is_ascii_digit()));
    Ok(complete.then_some(Source::EventBridge))
}

/// A member that is a string.
pub(super) fn text(node: &Node<'_>, name: &str) -> Found<Option<Rc<str>>> {
    Ok(match node.member(name)?.open()? {
        Node::String(text) => Some(text.as_str().into()),
        _ => None,
    })
}

fn all_text(node: &Node<'_>, names: &[&str]) -> Found<bool> {
    for name in names {
        if node.member(name)?.type_name() != "string" {
            return Ok(false);
        }
    }
    Ok(true)
}

fn present(node: &Node<'_>, names: &[&str]) -> Found<bool> {
    for name in names {
        if node.member(name)?.type_name() != "null" {
            return Ok(true);
        }
    }
    Ok(false)
}

fn arn(node: &Node<'_>, name: &str) -> Found<bool> {
    Ok(text(node, name)?.is_some_and(|arn| arn.starts_with("arn:")))
}

fn is_object(node: &Node<'_>, path: &[&str]) -> Found<bool> {
    let mut at = node.clone();
    for name in path {
        at = at.member(name)?;
    }
    Ok(at.type_name() == "object")
}
