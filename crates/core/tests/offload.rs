//! Results that are too large for the store, kept elsewhere and read as if they were in it.

mod support;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use lambda_idempotency_core::testing::Verb;
use lambda_idempotency_core::{
    Aes256Gcm, Clock, Engine, Key, MemoryStore, Object, Offload, Policy, Record, ResultMode, StoreError,
    StoreErrorKind, TooLarge,
};
use support::{Around, Bed, TIME, Wrapped, order};

/// Objects in a map; refuses while it is broken.
#[derive(Clone, Debug, Default)]
struct Shelf {
    objects: Arc<Mutex<HashMap<String, Vec<u8>>>>,
    broken: Arc<Mutex<bool>>,
}

impl Shelf {
    fn check(&self) -> Result<(), StoreError> {
        match *self.broken.lock().expect("whole") {
            true => Err(StoreError::new(StoreErrorKind::Unreachable, "the shelf")),
            false => Ok(()),
        }
    }
    fn set_broken(&self, broken: bool) {
        *self.broken.lock().expect("whole") = broken;
    }
    fn texts(&self) -> Vec<Vec<u8>> {
        self.objects.lock().expect("whole").values().cloned().collect()
    }
}

#[async_trait::async_trait]
impl Offload for Shelf {
    fn name(&self) -> &str {
        "shelf"
    }
    async fn put(&self, object: Object<'_>) -> Result<String, StoreError> {
        self.check()?;
        let reference = format!("{}/{}", object.id, object.owner.as_str());
        self.objects.lock().expect("whole").insert(reference.clone(), object.bytes.to_vec());
        Ok(reference)
    }
    async fn get(&self, reference: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.check()?;
        Ok(self.objects.lock().expect("whole").get(reference).cloned())
    }
}

/// A memory store that holds little.
#[derive(Debug, Default)]
struct Small(MemoryStore);

const LIMIT: usize = 600;

#[async_trait::async_trait]
impl Around for Small {
    fn inner(&self) -> &MemoryStore {
        &self.0
    }
    fn check_size(&self, record: &Record) -> Result<(), TooLarge> {
        let bytes = record.data.as_ref().map_or(0, String::len);
        if bytes > LIMIT { Err(TooLarge { bytes, limit: LIMIT }) } else { Ok(()) }
    }
}

struct Case {
    bed: Bed,
    store: Arc<Wrapped<Small>>,
    shelf: Shelf,
}

impl Case {
    fn new() -> Self {
        Self { bed: Bed::new(), store: Arc::default(), shelf: Shelf::default() }
    }

    fn without_place(&self, policy: Policy) -> Engine {
        Engine::new("bed", Arc::clone(&self.store), Key::parse("id").expect("a key"))
            .and_then(|engine| engine.policy(policy))
            .expect("an engine")
            .clock(Arc::clone(&self.bed.clock) as Arc<dyn Clock>)
    }

    fn engine(&self, policy: Policy) -> Engine {
        self.without_place(policy).offload(self.shelf.clone()).expect("a name")
    }

    async fn run(&self, engine: &Engine, size: usize) -> support::Ran {
        let input = order();
        let work = engine.run(&input, |_| async {
            self.bed.effect();
            Ok("x".repeat(size))
        });
        self.bed.invoke(TIME, work).await
    }

    fn record(&self) -> Record {
        self.store.0.0.records().pop().expect("is there")
    }
}

#[tokio::test]
async fn a_large_result_is_kept_elsewhere_and_replays_as_it_was() {
    for mode in [ResultMode::Full, ResultMode::Compressed] {
        for encrypted in [false, true] {
            let case = Case::new();
            let mut engine = case.engine(Policy::new().result_mode(mode).offload_over(20));
            if encrypted {
                engine = engine.cipher(Aes256Gcm::new(&[7; 32])).expect("a name");
            }
            let what = format!("{mode:?}, encrypted: {encrypted}");
            assert_eq!(
                case.run(&engine, 5_000).await.expect("runs").into_value().map(|x| x.len()),
                Some(5_000)
            );
            let record = case.record();
            let encoding = record.encoding.clone().unwrap_or_default();
            assert!(encoding.ends_with("shelf:5002"), "{what}: {encoding}");
            assert!(record.data.is_some_and(|data| data.len() < 200), "{what}");
            let plain = case.shelf.texts() == [format!("\"{}\"", "x".repeat(5_000)).into_bytes()];
            assert_eq!(plain, mode == ResultMode::Full && !encrypted, "{what}");
            let replayed = case.run(&engine, 1).await.expect("replays");
            assert!(replayed.is_replayed() && replayed.into_value() == Some("x".repeat(5_000)), "{what}");
            assert_eq!(case.bed.effects(), 1);
        }
    }
}

#[tokio::test]
async fn what_fits_stays_in_the_record_unless_the_policy_says_less() {
    let case = Case::new();
    case.run(&case.engine(Policy::new()), LIMIT - 2).await.expect("runs");
    assert_eq!((case.record().encoding, case.shelf.texts().len()), (None, 0));

    let case = Case::new();
    case.run(&case.engine(Policy::new().offload_over(100)), 99).await.expect("runs");
    assert_eq!(case.record().encoding.as_deref(), Some("shelf:101"));

    // Without a place they are stored as they are.
    let case = Case::new();
    case.run(&case.without_place(Policy::new().offload_over(100)), 99).await.expect("runs");
    assert_eq!(case.record().encoding, None);
}

#[tokio::test]
async fn a_place_that_does_not_take_it_costs_the_replay_and_not_the_answer() {
    let case = Case::new();
    case.shelf.set_broken(true);
    let engine = case.engine(Policy::new());
    assert_eq!(case.run(&engine, 5_000).await.expect("runs").into_value().map(|x| x.len()), Some(5_000));
    assert_eq!(support::refusal(case.run(&engine, 1).await).name(), "ResultNotStored");

    // What would fit is stored then.
    let case = Case::new();
    case.shelf.set_broken(true);
    let engine = case.engine(Policy::new().offload_over(100));
    case.run(&engine, 200).await.expect("runs");
    assert_eq!(case.run(&engine, 1).await.expect("replays").into_value(), Some("x".repeat(200)));
}

#[tokio::test]
async fn a_place_that_is_away_at_the_replay_is_a_reason_to_come_back_and_not_to_run() {
    let case = Case::new();
    let engine = case.engine(Policy::new());
    case.run(&engine, 5_000).await.expect("runs");
    let before = case.record();
    case.shelf.set_broken(true);
    let error = support::refusal(case.run(&engine, 1).await);
    assert_eq!((error.name(), error.is_retryable()), ("ResultUnavailable", true));
    assert_eq!(error.record_id(), Some(&before.id));
    case.shelf.set_broken(false);
    assert!(case.run(&engine, 1).await.expect("replays").is_replayed());
    assert_eq!((case.record(), case.bed.effects()), (before, 1));
}

#[tokio::test]
async fn an_object_that_is_gone_is_a_result_that_is_not_stored() {
    let case = Case::new();
    let engine = case.engine(Policy::new());
    case.run(&engine, 5_000).await.expect("runs");
    case.shelf.objects.lock().expect("whole").clear();
    let error = support::refusal(case.run(&engine, 1).await);
    assert!(error.to_string().contains("5002 bytes"), "{error}");
    assert_eq!((error.name(), error.is_retryable(), case.bed.effects()), ("ResultNotStored", false, 1));
}

#[tokio::test]
async fn a_reader_without_the_place_says_so() {
    let case = Case::new();
    case.run(&case.engine(Policy::new()), 5_000).await.expect("runs");
    let error = support::refusal(case.run(&case.without_place(Policy::new()), 1).await);
    assert_eq!(error.name(), "ReplayDecode");
    assert!(error.to_string().contains("place"), "{error}");
    assert_eq!(case.bed.effects(), 1);
}

#[tokio::test]
async fn an_object_of_another_record_is_detected_under_encryption() {
    let case = Case::new();
    let engine = case.engine(Policy::new()).cipher(Aes256Gcm::new(&[7; 32])).expect("a name");
    case.run(&engine, 5_000).await.expect("runs");
    let other = Case { bed: Bed::new(), store: Arc::default(), shelf: case.shelf.clone() };
    other
        .run(&other.engine(Policy::new()).cipher(Aes256Gcm::new(&[7; 32])).expect("a name"), 6_000)
        .await
        .expect("runs");
    let mut record = case.record();
    record.data = other.record().data;
    case.store.0.0.put(record);
    assert_eq!(support::refusal(case.run(&engine, 1).await).name(), "ReplayDecode");
}

#[tokio::test]
async fn the_object_is_there_before_the_record_names_it() {
    // A worker whose completion never arrives leaves an object, and no record that points to nothing.
    let bed = Bed::new();
    let shelf = Shelf::default();
    let engine = bed.engine(Policy::new().offload_over(10)).offload(shelf.clone()).expect("a name");
    for _ in 0..200 {
        bed.store.break_next(Verb::Complete, lambda_idempotency_core::testing::Fault::ErrorBefore);
    }
    let input = order();
    let ran =
        bed.invoke(TIME, engine.run(&input, |_| async { Ok::<_, &'static str>("x".repeat(100)) })).await;
    assert_eq!(support::refusal(ran).name(), "NotRecorded");
    assert_eq!(shelf.texts().len(), 1);
    assert!(bed.record().is_some_and(|record| record.data.is_none()));
}

#[derive(Debug)]
struct Named(&'static str);

#[async_trait::async_trait]
impl Offload for Named {
    fn name(&self) -> &str {
        self.0
    }
    async fn put(&self, _: Object<'_>) -> Result<String, StoreError> {
        Ok(String::new())
    }
    async fn get(&self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }
}

#[test]
fn a_name_that_a_reader_would_misunderstand_is_refused() {
    let bed = Bed::new();
    for name in ["", "omitted", "gzip", "a+b", "a:b", "s 3"] {
        let refused = bed.engine(Policy::new()).offload(Named(name)).err().map(|error| error.to_string());
        assert!(refused.is_some_and(|message| message.contains("name of a place")), "{name}");
    }
    assert!(bed.engine(Policy::new()).offload(Named("s3")).is_ok());
}

/// Refuses, or panics, so many times.
#[derive(Clone, Debug)]
struct Moody {
    shelf: Shelf,
    refusals: Arc<Mutex<usize>>,
    panics: bool,
}

#[async_trait::async_trait]
impl Offload for Moody {
    fn name(&self) -> &str {
        "shelf"
    }
    async fn put(&self, object: Object<'_>) -> Result<String, StoreError> {
        assert!(!self.panics, "on purpose");
        {
            let mut refusals = self.refusals.lock().expect("whole");
            if *refusals > 0 {
                *refusals -= 1;
                return Err(StoreError::new(StoreErrorKind::Throttled, "the shelf"));
            }
        }
        self.shelf.put(object).await
    }
    async fn get(&self, reference: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.shelf.get(reference).await
    }
}

#[tokio::test]
async fn a_place_that_is_busy_for_a_moment_is_asked_again() {
    let case = Case::new();
    let place = Moody { shelf: case.shelf.clone(), refusals: Arc::new(Mutex::new(3)), panics: false };
    let engine = case.without_place(Policy::new()).offload(place).expect("a name");
    case.run(&engine, 5_000).await.expect("runs");
    assert_eq!(case.run(&engine, 1).await.expect("replays").into_value(), Some("x".repeat(5_000)));
}

#[tokio::test]
async fn a_place_that_panics_costs_the_replay_and_not_the_answer() {
    let case = Case::new();
    let place = Moody { shelf: case.shelf.clone(), refusals: Arc::default(), panics: true };
    let engine = case.without_place(Policy::new()).offload(place).expect("a name");
    assert_eq!(case.run(&engine, 5_000).await.expect("runs").into_value(), Some("x".repeat(5_000)));
    assert_eq!(support::refusal(case.run(&engine, 1).await).name(), "ResultNotStored");
    assert_eq!(case.bed.effects(), 1);
}

/// Says where in so many words that the store cannot hold them.
#[derive(Debug)]
struct Verbose;

#[async_trait::async_trait]
impl Offload for Verbose {
    fn name(&self) -> &str {
        "verbose"
    }
    async fn put(&self, _: Object<'_>) -> Result<String, StoreError> {
        Ok("r".repeat(LIMIT + 1))
    }
    async fn get(&self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }
}

#[tokio::test]
async fn a_reference_that_the_store_cannot_hold_is_not_written() {
    let case = Case::new();
    let engine = case.without_place(Policy::new()).offload(Verbose).expect("a name");
    case.run(&engine, 5_000).await.expect("runs");
    assert_eq!(case.record().encoding.as_deref(), Some("omitted:5002"));
    let case = Case::new();
    let engine = case.without_place(Policy::new().offload_over(10)).offload(Verbose).expect("a name");
    case.run(&engine, 100).await.expect("runs");
    assert_eq!(case.record().encoding, None);
}
