//! What keys and fingerprints cost, as ratios to work that nobody can avoid: one pass of
//! `serde_json` over the text, keeping nothing, and SHA-256 of the same bytes. All in turn in one
//! run, so that the machine does not matter.
//!
//! `cargo bench -p lambda-idempotency-key`. It fails if a fingerprint costs over 4 times that (the
//! goal is 2.5), or a key of one field more than reading what it is taken from once; see [`READ_ONCE`] and
//! [`READ_INSIDE`].

mod inputs;
mod turns;

use std::hint::black_box;
use std::process::ExitCode;

use inputs::{order, prompt, sqs};
use lambda_idempotency_key::{Fingerprint, Key, canonical};
use sha2::{Digest, Sha256};
use turns::Turns;

/// How large the inputs are, in bytes.
const SIZES: [usize; 3] = [1_000, 100_000, 5_000_000];

/// Over so many times the baseline, a fingerprint is a fault.
const FAULT: f64 = 4.0;

/// A way to make an input of a size.
type Make = fn(usize) -> String;

/// A key, the input it is taken from, and over how many times the baseline it is a fault.
type OneField = (&'static str, Make, f64);

/// What reads the input once costs half of the baseline, wherever the field stands; reading it twice is a fault.
const READ_ONCE: f64 = 1.0;

/// Half for the event, as much for what is inside of the text, and a little more for taking the escapes out of it. With
/// this it is a fault to read two of them again.
const READ_INSIDE: f64 = 2.5;

const KEYS: [OneField; 4] = [
    ("order_id", order, READ_ONCE),
    ("channel", order, READ_ONCE),
    ("powertools_json(Records[0].body).order_id", sqs, READ_INSIDE),
    ("[Records[0].eventSourceARN, powertools_json(Records[0].body).order_id]", sqs, READ_INSIDE),
];

fn main() -> ExitCode {
    println!("ratios to the baseline, by the best turns (by the median ones)");
    let faults = fingerprints() + keys();
    if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Keeps the compiler from leaving the work out.
fn nothing<T>(result: T) {
    black_box(result);
}

/// What the work costs, as it is shown.
fn shown(turns: &Turns, work: usize) -> String {
    let (best, median) = turns.ratios(work);
    format!("{best:.2} ({median:.2})")
}

/// Whether the work costs over so many times the baseline. The median turns meet what else the machine does;
/// the best ones are the code's.
fn is_fault(turns: &Turns, work: usize, limit: f64) -> bool {
    let fault = turns.ratios(work).0 > limit;
    if fault {
        println!("  FAULT: more than {limit} times the baseline");
    }
    fault
}

/// How many of them are faults.
fn fingerprints() -> usize {
    println!(
        "{:<8} {:>10} {:>10} {:>14} {:>14} {:>14}",
        "input", "bytes", "baseline", "whole", "canonical", "tokens"
    );
    let mut faults = 0;
    for (name, make) in [("order", order as Make), ("prompt", prompt), ("sqs", sqs)] {
        for bytes in SIZES {
            let json = make(bytes);
            let turns = Turns::measure(&mut [
                &mut || nothing(serde_json::from_str::<serde::de::IgnoredAny>(&json).is_ok()),
                &mut || nothing(Sha256::digest(json.as_bytes())),
                &mut || nothing(Fingerprint::Whole.of(&json)),
                &mut || nothing(canonical(&json)),
            ]);
            println!(
                "{name:<8} {:>10} {:>10.1?} {:>14} {:>14} {:>14}",
                json.len(),
                turns.baseline(),
                shown(&turns, 2),
                shown(&turns, 3),
                shown(&turns, 0),
            );
            faults += usize::from(is_fault(&turns, 2, FAULT));
        }
    }
    faults
}

/// How many of them are faults.
fn keys() -> usize {
    println!("\n{:<72} {:>10} {:>10} {:>14}", "key", "bytes", "baseline", "key");
    let mut faults = 0;
    for (text, make, limit) in KEYS {
        let key = Key::parse(text).expect("an expression");
        for bytes in SIZES {
            let json = make(bytes);
            let turns = Turns::measure(&mut [
                &mut || nothing(serde_json::from_str::<serde::de::IgnoredAny>(&json).is_ok()),
                &mut || nothing(Sha256::digest(json.as_bytes())),
                &mut || nothing(key.of(&json).expect("the key is there")),
            ]);
            println!("{text:<72} {:>10} {:>10.1?} {:>14}", json.len(), turns.baseline(), shown(&turns, 2));
            faults += usize::from(is_fault(&turns, 2, limit));
        }
    }
    faults
}
