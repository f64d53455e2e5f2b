//! What is read.

/// An order of about this many bytes: nested objects, texts with and without escapes, numbers. It begins with
/// `order_id` and ends with `channel`.
pub(crate) fn order(bytes: usize) -> String {
    let mut json = String::from(
        r#"{"order_id":9007199254740993,"version":3,"customer":{"name":"Åsa Öberg","email":"asa@example.com"},"items":["#,
    );
    let mut line = 0;
    while json.len() < bytes {
        if line > 0 {
            json.push(',');
        }
        json.push_str(&format!(
            r#"{{"sku":"SKU-{line:06}","qty":{},"price":{}.95,"gift":false,"note":"Please wrap \"{line}\" in paper, and leave it at the door.\nThanks","tags":["a","b{line}"],"discount":null}}"#,
            line % 7 + 1,
            line % 1000,
        ));
        line += 1;
    }
    json.push_str(r#"],"channel":"web"}"#);
    json
}

/// A text of about this many bytes in one string, as a prompt or an uploaded file is.
pub(crate) fn prompt(bytes: usize) -> String {
    let text = "The quick brown fox jumps over the lazy dog, again and again. ".repeat(bytes / 62 + 1);
    format!(r#"{{"job_id":"j-1","prompt":"{text}"}}"#)
}

/// An SQS event with one record whose body is such an order.
pub(crate) fn sqs(bytes: usize) -> String {
    let body = order(bytes).replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        r#"{{"Records":[{{"messageId":"m","receiptHandle":"r","body":"{body}","attributes":{{"ApproximateReceiveCount":"1"}},"messageAttributes":{{}},"eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:eu-west-1:123456789012:q","awsRegion":"eu-west-1"}}]}}"#
    )
}
