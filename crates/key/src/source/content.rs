//! What of a recognised event says what was asked: all that stays the same at a redelivery.

use std::rc::Rc;

use super::Source;
use super::markers;
use crate::json::canonical::{canonical, canonical_node, canonical_unless};
use crate::json::error::CanonicalError;
use crate::json::node::Node;

/// Every event that can be recognised has one of these; a text without them is read only once.
const SUSPECT: &[&str] = &["Records", "eventSource", "EventSource", "requestContext", "detail-type"];

/// What of an input is compared in canonical form, and its source if that is recognised.
///
/// The content of an event is an array of one array per record, so that one record means the same
/// alone and in its envelope.
pub(crate) fn content(json: &str) -> Result<(Option<Source>, String), CanonicalError> {
    if let Some(whole) = canonical_unless(json, SUSPECT)? {
        return Ok((None, whole));
    }
    let Some(event) = markers::event(json)? else {
        return Ok((None, canonical(json)?));
    };
    let parts = event.parts.iter().map(|part| covered(event.source, part));
    let parts = Node::Array(Rc::new(parts.collect::<Result<_, _>>()?));
    Ok((Some(event.source), canonical_node(&parts)?))
}

/// The members that the fingerprint covers, in a fixed order; null for one that is not there.
fn covered<'a>(source: Source, part: &Node<'a>) -> Result<Node<'a>, CanonicalError> {
    let paths: &[&[&str]] = match source {
        Source::Sqs => &[&["body"]],
        Source::Sns => &[&["Sns", "Message"]],
        Source::Kinesis => &[&["kinesis", "data"]],
        Source::DynamoDbStream => {
            &[&["eventName"], &["dynamodb", "Keys"], &["dynamodb", "NewImage"], &["dynamodb", "OldImage"]]
        }
        Source::S3 => &[
            &["s3", "bucket", "name"],
            &["s3", "object", "key"],
            &["s3", "object", "versionId"],
            &["s3", "object", "eTag"],
            &["s3", "object", "sequencer"],
        ],
        Source::EventBridge => &[&["source"], &["detail-type"], &["detail"]],
        Source::ApiGatewayV1 | Source::Alb => &[
            &["httpMethod"],
            &["path"],
            &["queryStringParameters"],
            &["multiValueQueryStringParameters"],
            &["body"],
            &["isBase64Encoded"],
        ],
        Source::ApiGatewayV2 | Source::FunctionUrl => &[
            &["requestContext", "http", "method"],
            &["rawPath"],
            &["rawQueryString"],
            &["body"],
            &["isBase64Encoded"],
        ],
    };
    let mut values = Vec::with_capacity(paths.len());
    for path in paths {
        let mut at = part.clone();
        for name in *path {
            at = at.member(name)?;
        }
        values.push(at);
    }
    if source == Source::S3 && values[2].type_name() == "string" {
        values[3] = Node::Null; // the version says it all
    }
    Ok(Node::Array(Rc::new(values)))
}
