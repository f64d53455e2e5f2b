//! What keys and fingerprints cost, as ratios to work that nobody can avoid: one pass of
//! `serde_json` over the text, keeping nothing, and SHA-256 of the same bytes. All in turn in one
//! run, so that the machine does not matter.
//!
//! `cargo bench -p lambda-idempotency-key`. A fingerprint over 4 times is a fault, with which it
//! fails; the goal is 2.5.

use std::hint::black_box;
use std::process::ExitCode;
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

/// A quotient's numerator and denominator are measured in turn, so that both meet the same disturbances.
struct Turns {
    /// Of each kind of work, the time that each turn took.
    times: Vec<Vec<Duration>>,
}

impl Turns {
    fn measure(works: &mut [&mut dyn FnMut()]) -> Self {
        let start = Instant::now();
        let mut times = vec![Vec::new(); works.len()];
        while times[0].len() < 30 || (start.elapsed() < Duration::from_secs(1) && times[0].len() < 20_000) {
            for (work, times) in works.iter_mut().zip(&mut times) {
                let start = Instant::now();
                work();
                times.push(start.elapsed());
            }
        }
        Self { times }
    }

    fn best(&self, work: usize) -> f64 {
        self.times[work].iter().min().map_or(f64::NAN, Duration::as_secs_f64)
    }

    fn median(&self, work: usize) -> f64 {
        let mut times = self.times[work].clone();
        times.sort();
        times[times.len() / 2].as_secs_f64()
    }

    /// What the work costs beside the first two together: by the best turns, and by the median ones.
    fn ratios(&self, work: usize) -> (f64, f64) {
        let best = self.best(work) / (self.best(0) + self.best(1));
        (best, self.median(work) / (self.median(0) + self.median(1)))
    }
}

/// Keeps the compiler from leaving the work out.
fn nothing<T>(result: T) {
    black_box(result);
}

/// What is a fault.
const FAULT: f64 = 4.0;

fn main() -> ExitCode {
    let key =
        Key::parse("order_id || job_id || powertools_json(Records[0].body).order_id").expect("an expression");
    println!("ratios to the baseline, by the best turns (by the median ones)");
    println!(
        "{:<8} {:>10} {:>10} {:>14} {:>14} {:>14} {:>14}",
        "input", "bytes", "baseline", "whole", "canonical", "key", "tokens"
    );
    let mut faults = 0;
    for (name, make) in [("order", order as fn(usize) -> String), ("prompt", prompt), ("sqs", sqs)] {
        for bytes in [1_000, 100_000, 5_000_000] {
            let json = make(bytes);
            let turns = Turns::measure(&mut [
                &mut || nothing(serde_json::from_str::<serde::de::IgnoredAny>(&json).is_ok()),
                &mut || nothing(Sha256::digest(json.as_bytes())),
                &mut || nothing(Fingerprint::Whole.of(&json)),
                &mut || nothing(canonical(&json)),
                &mut || nothing(key.of(&json)),
            ]);
            let shown = |work| {
                let (best, median) = turns.ratios(work);
                format!("{best:.2} ({median:.2})")
            };
            println!(
                "{name:<8} {:>10} {:>10.1?} {:>14} {:>14} {:>14} {:>14}",
                json.len(),
                Duration::from_secs_f64(turns.best(0) + turns.best(1)),
                shown(2),
                shown(3),
                shown(4),
                shown(0),
            );
            // The median turns meet what else the machine does; the best ones are the code's.
            if turns.ratios(2).0 > FAULT {
                println!("  FAULT: more than {FAULT} times the baseline");
                faults += 1;
            }
        }
    }
    if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
