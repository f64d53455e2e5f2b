//! What went wrong in other libraries of this kind, at the engine.

mod support;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use lambda_idempotency_core::Policy;
use lambda_idempotency_core::{
    Cached, ClaimAnswer, ClaimRequest, Clock, Engine, EpochSeconds, Key, MemoryStore, Outcome, ReplaySource,
    RunError, Status, Store, StoreError, Typed,
};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use support::{Around, Bed, TIME, Wrapped, order, refusal};

/// A store whose first answer to a claim is out of date; the record is not in the way any more.
#[derive(Debug)]
struct Outdated {
    inner: Arc<MemoryStore>,
    gone: bool,
    claims: Arc<AtomicUsize>,
}

#[async_trait::async_trait]
impl Around for Outdated {
    fn inner(&self) -> &MemoryStore {
        &self.inner
    }
    async fn claim(&self, request: &ClaimRequest) -> Result<ClaimAnswer, StoreError> {
        if self.claims.fetch_add(1, Ordering::SeqCst) > 0 {
            return self.inner.claim(request).await;
        }
        let mut record = request.record();
        record.owner = None;
        record.expiration = EpochSeconds::new(request.now.floor_seconds().get() - 1);
        Ok(match self.gone {
            true => ClaimAnswer::Vanished,
            false => ClaimAnswer::Refused { record, now: request.now },
        })
    }
}

#[tokio::test]
async fn a_claim_that_was_refused_for_a_record_that_is_gone_or_has_expired_is_sent_again() {
    for gone in [true, false] {
        let (bed, inner, claims) = (Bed::new(), Arc::new(MemoryStore::new()), Arc::default());
        let store = Wrapped(Outdated { inner: Arc::clone(&inner), gone, claims: Arc::clone(&claims) });
        let engine = Engine::new("bed", store, Key::parse("id").expect("a key"))
            .expect("an engine")
            .clock(Arc::clone(&bed.clock) as Arc<dyn Clock>);
        assert_eq!(bed.run(&engine, &order()).await.expect("runs"), Outcome::Executed("run-1".to_owned()));
        assert_eq!(claims.load(Ordering::SeqCst), 2);
        // It ran behind a claim of its own, and so there is an answer.
        assert_eq!(inner.records().first().map(|record| record.status), Some(Status::Completed));
        assert!(bed.run(&engine, &order()).await.expect("replays").is_replayed());
        assert_eq!(bed.effects(), 1);
    }
}

#[tokio::test]
async fn a_replay_from_memory_is_seen_as_well_and_its_error_spoils_nothing() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    let bed = Bed::new();
    let results = Typed::<(), &'static str>::new().on_replay(|(), replay| {
        let expected = [ReplaySource::Store, ReplaySource::Cache, ReplaySource::Cache, ReplaySource::Cache];
        let seen = SEEN.fetch_add(1, Ordering::SeqCst);
        assert_eq!(replay.source, expected[seen]);
        if seen == 2 { Err("refused") } else { Ok(()) }
    });
    let plain = bed.engine(Policy::new());
    let cached = Engine::new("bed", Cached::new(Arc::clone(&bed.store)), Key::parse("id").expect("a key"))
        .expect("an engine")
        .clock(Arc::clone(&bed.clock) as Arc<dyn Clock>);
    let input = order();
    let call = async |engine: &Engine| {
        let work = engine.run_with(&input, &results, |_| async {
            bed.effect();
            Ok(())
        });
        bed.invoke(TIME, work).await
    };
    assert_eq!(call(&plain).await.expect("runs"), Outcome::Executed(()));
    assert_eq!(SEEN.load(Ordering::SeqCst), 0);
    assert!(call(&cached).await.expect("replays").is_replayed());
    assert!(call(&cached).await.expect("replays").is_replayed());
    assert!(matches!(call(&cached).await, Err(RunError::Function("refused"))));
    assert!(call(&cached).await.expect("replays").is_replayed());
    assert_eq!((SEEN.load(Ordering::SeqCst), bed.effects()), (4, 1));
}

#[tokio::test]
async fn the_memory_answers_after_a_panic() {
    let bed = Bed::new();
    let engine = Engine::new("bed", Cached::new(Arc::clone(&bed.store)), Key::parse("id").expect("a key"))
        .expect("an engine")
        .clock(Arc::clone(&bed.clock) as Arc<dyn Clock>);
    let input = order();
    let panics = bed.invoke(
        TIME,
        engine.run(&input, |_| async { if true { panic!("on purpose") } else { Ok::<u8, &str>(1) } }),
    );
    assert!(AssertUnwindSafe(panics).catch_unwind().await.is_err());
    assert!(!bed.run(&engine, &order()).await.expect("runs").is_replayed());
    match bed.run(&engine, &order()).await {
        Ok(Outcome::Replayed(_, replay)) => assert_eq!(replay.source, ReplaySource::Cache),
        other => panic!("{other:?}"),
    }
}

/// The wall clock of a frozen environment can stand still; the other one does not.
#[tokio::test]
async fn what_is_too_old_by_the_steady_clock_is_asked_for_again() {
    let bed = Bed::new();
    let store = Cached::new(Arc::clone(&bed.store)).max_age(Duration::from_millis(20));
    let engine = Engine::new("bed", store, Key::parse("id").expect("a key"))
        .expect("an engine")
        .clock(Arc::clone(&bed.clock) as Arc<dyn Clock>);
    bed.run(&engine, &order()).await.expect("runs");
    std::thread::sleep(Duration::from_millis(40));
    match bed.run(&engine, &order()).await {
        Ok(Outcome::Replayed(_, replay)) => assert_eq!(replay.source, ReplaySource::Store),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn work_that_is_done_without_data_is_nothing_where_that_is_a_result() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    bed.run(&engine, &order()).await.expect("runs");
    let mut record = bed.record().expect("is there");
    record.data = None;
    bed.store.inner().put(record.clone());
    let input = order();
    let unit = engine.run(&input, |_| async { Err::<(), _>("it ran") });
    assert!(unit.await.expect("replays").is_replayed());
    let option = engine.run(&input, |_| async { Err::<Option<String>, _>("it ran") });
    assert_eq!(option.await.expect("replays").into_value(), Some(None));
    assert_eq!(refusal(bed.run(&engine, &order()).await).name(), "ReplayDecode");
    assert_eq!((bed.effects(), bed.record()), (1, Some(record)));
}

/// Bytes that serialise as such, like `bytes::Bytes` and `serde_bytes::ByteBuf`.
#[derive(Clone, Debug, PartialEq)]
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Of;
        impl<'de> Visitor<'de> for Of {
            type Value = Bytes;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Bytes, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = seq.next_element()? {
                    bytes.push(byte);
                }
                Ok(Bytes(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Of)
    }
}

#[tokio::test]
async fn bytes_of_a_type_of_their_own() {
    let bytes: Vec<u8> = (0..1024).map(|number| (number * 37 % 256) as u8).collect();
    for bytes in [Bytes(vec![]), Bytes(vec![0x00, 0xff, 0x80]), Bytes(bytes)] {
        let bed = Bed::new();
        let engine = bed.engine(Policy::new());
        let input = order();
        for replayed in [false, true] {
            let ran = engine.run(&input, |_| async { Ok::<_, &'static str>(bytes.clone()) }).await;
            let ran = ran.expect("answers");
            assert_eq!(ran.is_replayed(), replayed);
            assert_eq!(ran.into_value(), Some(bytes.clone()));
        }
    }
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_an_invalid_key_before_effect_and_store() {
    for (key, body) in [
        ("powertools_json(body).id", json!("plain")),
        ("powertools_json(body).id", json!(5)),
        ("powertools_json(body).id", json!("")),
        ("powertools_json(powertools_base64(body)).id", json!("no base64!")),
        ("powertools_json(powertools_base64_gzip(body)).id", json!("H4sIAAAAAAAA")),
    ] {
        let bed = Bed::new();
        let engine = Engine::new("bed", Arc::clone(&bed.store), Key::parse(key).expect("a key"))
            .expect("an engine")
            .clock(Arc::clone(&bed.clock) as Arc<dyn Clock>);
        let error = refusal(bed.run(&engine, &json!({"body": body})).await);
        assert_eq!((error.name(), error.is_retryable()), ("InvalidKey", false), "{key}: {body}");
        assert!(error.to_string().contains(key), "{error}");
        assert_eq!((bed.effects(), bed.store.calls().len()), (0, 0));
        let missing = refusal(bed.run(&engine, &json!({"body": null})).await);
        assert_eq!(missing.name(), "MissingKey");
    }
    let bed = Bed::new();
    let key = Key::parse("powertools_json(powertools_base64(body)).id").expect("a key");
    let engine = Engine::new("bed", Arc::clone(&bed.store), key).expect("an engine");
    let input = json!({"body": "eyJpZCI6NX0=", "isBase64Encoded": true});
    let ran = engine.run(&input, |_| async { Ok::<_, &'static str>(bed.effect()) }).await;
    assert!(!ran.expect("runs").is_replayed());
}

#[tokio::test]
async fn after_its_effect_has_started_a_result_that_is_no_answer_keeps_its_claim() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let results = Typed::<String, &'static str>::new().store_if(|_| false);
    let input = order();
    let work = engine.run_with(&input, &results, |attempt| async move {
        attempt.effect_started();
        Ok("half done".to_owned())
    });
    assert!(bed.invoke(TIME, work).await.is_ok());
    assert!(refusal(bed.run(&engine, &order()).await).is_already_in_progress());
}

#[tokio::test]
async fn a_failure_without_a_json_form_is_the_functions_own_and_keeps_its_claim() {
    let bed = Bed::new();
    let engine = bed.engine(Policy::new());
    let results = Typed::<String, f64>::new().store_failures();
    let input = order();
    let work = engine.run_with(&input, &results, |_| async { Err(f64::NAN) });
    assert!(matches!(bed.invoke(TIME, work).await, Err(RunError::Function(error)) if error.is_nan()));
    assert!(refusal(bed.run(&engine, &order()).await).is_already_in_progress());
    assert_eq!(bed.effects(), 0);
}

#[tokio::test]
async fn a_failure_that_is_an_answer_is_stored_fail_open_too_where_the_store_takes_it() {
    use lambda_idempotency_core::testing::{Fault, Verb};
    let bed = Bed::new();
    let engine = bed.engine(Policy::new().fail_open());
    let results = Typed::<String, String>::new().store_failures();
    bed.store.break_next(Verb::Claim, Fault::ReplyLost);
    bed.store.break_next(Verb::Claim, Fault::ReplyLost);
    bed.store.break_next(Verb::Release, Fault::ErrorBefore);
    let input = order();
    let call = || {
        let work = engine.run_with(&input, &results, |_| async {
            bed.effect();
            Err("declined".to_owned())
        });
        bed.invoke(TIME, work)
    };
    assert!(matches!(call().await, Err(RunError::Function(_))));
    let second = call().await;
    assert!(matches!(second, Err(RunError::Replayed(..))));
    assert_eq!(bed.effects(), 1);
}

#[tokio::test]
async fn an_encrypted_result_is_bound_to_the_fingerprint() {
    use lambda_idempotency_core::Aes256Gcm;
    for validation in [None, Some("1:00000000:0123".to_owned())] {
        let bed = Bed::new();
        let engine = bed.engine(Policy::new()).cipher(Aes256Gcm::new(&[7; 32])).expect("a name");
        bed.run(&engine, &order()).await.expect("runs");
        let mut record = bed.record().expect("is there");
        // Not comparable, and so accepted but for the cipher.
        record.validation = validation;
        bed.store.inner().put(record);
        assert_eq!(refusal(bed.run(&engine, &order()).await).name(), "ReplayDecode");
        assert_eq!(bed.effects(), 1);
    }
}
