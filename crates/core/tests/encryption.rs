//! Stored results are unreadable without the key, and cannot be moved to another record.

mod support;

use lambda_idempotency_core::{Aes256Gcm, Engine, Policy, ResultMode};
use serde_json::{Value, json};
use support::{Bed, refusal};

const CANARY: &str = "canary@example.com";

fn input(id: u32) -> Value {
    json!({"id": id})
}

async fn run(engine: &Engine, id: u32) -> support::Ran {
    engine.run(&input(id), |_| async move { Ok::<_, &'static str>(format!("{CANARY} {id}")) }).await
}

fn two_results(bed: &Bed) -> Vec<lambda_idempotency_core::Record> {
    let mut records = bed.store.inner().records();
    records.sort_by(|a, b| a.id.as_str().cmp(b.id.as_str()));
    records
}

#[tokio::test]
async fn an_encrypted_result_replays_and_is_not_in_the_store() {
    for mode in [ResultMode::Full, ResultMode::Compressed] {
        let bed = Bed::new();
        let engine =
            bed.engine(Policy::new().result_mode(mode)).cipher(Aes256Gcm::new(&[7; 32])).expect("a name");
        assert!(run(&engine, 1).await.is_ok());
        let record = bed.record().expect("is there");
        assert!(record.encoding.as_deref().is_some_and(|encoding| encoding.ends_with("aes-256-gcm")));
        assert!(!record.data.as_deref().unwrap_or_default().contains(CANARY));
        let replayed = run(&engine, 1).await.expect("replays");
        assert!(replayed.is_replayed());
        assert_eq!(replayed.into_value(), Some(format!("{CANARY} 1")));
    }
}

#[tokio::test]
async fn two_results_that_were_swapped_are_detected_and_nothing_runs() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new()).cipher(Aes256Gcm::new(&[7; 32])).expect("a name");
    assert!(run(&engine, 1).await.is_ok() && run(&engine, 2).await.is_ok());
    let (mut a, mut b) = {
        let records = two_results(&bed);
        (records[0].clone(), records[1].clone())
    };
    std::mem::swap(&mut a.data, &mut b.data);
    bed.store.inner().put(a);
    bed.store.inner().put(b);
    let before = two_results(&bed);
    for id in [1, 2] {
        let error = refusal(run(&engine, id).await);
        assert_eq!(error.name(), "ReplayDecode");
        assert!(error.to_string().contains("decrypted"), "{error}");
    }
    assert_eq!(two_results(&bed), before);
}

#[tokio::test]
async fn a_result_is_bound_to_owner_and_fingerprint_too() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new()).cipher(Aes256Gcm::new(&[7; 32])).expect("a name");
    assert!(run(&engine, 1).await.is_ok());
    let mut record = bed.record().expect("is there");
    record.owner = Some(lambda_idempotency_core::Owner::from_text("another"));
    bed.store.inner().put(record);
    assert_eq!(refusal(run(&engine, 1).await).name(), "ReplayDecode");
}

#[tokio::test]
async fn another_key_and_no_key_are_told_apart_from_a_run() {
    let bed = Bed::new();
    assert!(
        run(&bed.engine(Policy::new()).cipher(Aes256Gcm::new(&[7; 32])).expect("a name"), 1).await.is_ok()
    );
    for engine in [
        bed.engine(Policy::new()).cipher(Aes256Gcm::new(&[8; 32])).expect("a name"),
        bed.engine(Policy::new()),
    ] {
        assert_eq!(refusal(run(&engine, 1).await).name(), "ReplayDecode");
    }
}

#[tokio::test]
async fn results_from_before_the_cipher_are_read_as_they_are() {
    let bed = Bed::new();
    assert!(run(&bed.engine(Policy::new()), 1).await.is_ok());
    let engine = bed.engine(Policy::new()).cipher(Aes256Gcm::new(&[7; 32])).expect("a name");
    assert!(run(&engine, 1).await.expect("replays").is_replayed());
}
