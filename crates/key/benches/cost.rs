//! What keys and fingerprints cost, as ratios to work that nobody can avoid: one pass of
//! `serde_json` over the text, keeping nothing, and SHA-256 of the same bytes. All in one run, so
//! that the machine does not matter.
//!
//! `cargo bench -p lambda-idempotency-key`. A fingerprint over 4 times is a fault; the goal is 2.5.

use std::hint::black_box;
use std::time::{Duration, Instant};

use lambda_idempotency_key::{Fingerprint, Key, canonical};
use sha2::{Digest, Sha256};

/// An order of about this many bytes: nested objects, texts with and without escapes, numbers.
fn order(bytes: usize) -> String {
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
    json.push_str("]}");
    json
}

/// A text of about this many bytes in one string, as a prompt or an uploaded file is.
fn prompt(bytes: usize) -> String {
    let text = "The quick brown fox jumps over the lazy dog, again and again. ".repeat(bytes / 62 + 1);
    format!(r#"{{"job_id":"j-1","prompt":"{text}"}}"#)
}

/// An SQS event with one record whose body is such an order.
fn sqs(bytes: usize) -> String {
    let body = order(bytes).replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        r#"{{"Records":[{{"messageId":"m","receiptHandle":"r","body":"{body}","attributes":{{"ApproximateReceiveCount":"1"}},"messageAttributes":{{}},"eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:eu-west-1:123456789012:q","awsRegion":"eu-west-1"}}]}}"#
    )
}

/// The shortest of many runs.
fn time<T>(mut work: impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    let mut best = Duration::MAX;
    let mut runs = 0;
    while runs < 20 || (start.elapsed() < Duration::from_millis(400) && runs < 20_000) {
        let start = Instant::now();
        black_box(work());
        best = best.min(start.elapsed());
        runs += 1;
    }
    best
}

fn main() {
    let key =
        Key::parse("order_id || job_id || powertools_json(Records[0].body).order_id").expect("an expression");
    println!(
        "{:<16} {:>10} {:>10} {:>8} {:>8} {:>8} {:>8}",
        "input", "bytes", "baseline", "whole", "canon.", "key", "tokens"
    );
    for (name, make) in [("order", order as fn(usize) -> String), ("prompt", prompt), ("sqs", sqs)] {
        for bytes in [1_000, 100_000, 5_000_000] {
            let json = make(bytes);
            let tokens = time(|| serde_json::from_str::<serde::de::IgnoredAny>(&json).is_ok());
            let hash = time(|| Sha256::digest(json.as_bytes()));
            let baseline = tokens + hash;
            let ratio = |time: Duration| time.as_secs_f64() / baseline.as_secs_f64();
            let whole = ratio(time(|| Fingerprint::Whole.of(&json)));
            let form = ratio(time(|| canonical(&json)));
            let key = ratio(time(|| key.of(&json)));
            println!(
                "{name:<16} {:>10} {baseline:>10.1?} {whole:>8.2} {form:>8.2} {key:>8.2} {:>8.2}",
                json.len(),
                ratio(tokens),
            );
            if whole > 4.0 {
                println!("  FAULT: more than 4 times the baseline");
            }
        }
    }
}
