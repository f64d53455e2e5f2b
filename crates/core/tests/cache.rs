//! Answers from memory: the same as from the store, bounded, and no longer than they count.

mod support;

use std::sync::Arc;
use std::time::Duration;

use lambda_idempotency_core::testing::{
    Fault, FaultyStore, ManualClock, Subject, Verb, conformance, histories,
};
use lambda_idempotency_core::{
    Cached, Clock, Engine, EpochMillis, Key, MemoryStore, Outcome, Policy, Record, ReplaySource, Store,
};
use serde_json::{Value, json};
use support::{Bed, Ledger, Ran, START, TIME, order, refusal};

type Remembered = Cached<Arc<FaultyStore<Ledger>>>;
type Cache = Arc<Remembered>;

fn cache(bed: &Bed, shape: fn(Remembered) -> Remembered) -> Cache {
    Arc::new(shape(Cached::new(Arc::clone(&bed.store))))
}

fn engine(bed: &Bed, cache: &Cache, policy: Policy) -> Engine {
    Engine::new("bed", Arc::clone(cache), Key::parse("id").expect("a key"))
        .and_then(|engine| engine.policy(policy))
        .expect("an engine")
        .clock(Arc::clone(&bed.clock) as Arc<dyn Clock>)
}

fn source(ran: &Ran) -> Option<ReplaySource> {
    match ran {
        Ok(Outcome::Replayed(_, replay)) => Some(replay.source),
        _ => None,
    }
}

fn numbered(id: u64) -> Value {
    json!({"id": id})
}

#[tokio::test]
async fn a_replay_in_the_same_process_asks_no_store() {
    let bed = Bed::new();
    let engine = engine(&bed, &cache(&bed, |cache| cache), Policy::new());
    let first = bed.run(&engine, &order()).await.expect("runs").into_value();
    let calls = bed.store.calls().len();
    for _ in 0..3 {
        let again = bed.run(&engine, &order()).await;
        assert_eq!(source(&again), Some(ReplaySource::Cache));
        assert_eq!(again.expect("replays").into_value(), first);
    }
    assert_eq!((bed.store.calls().len(), bed.effects()), (calls, 1));
}

#[tokio::test]
async fn what_another_process_recorded_is_remembered_when_it_was_seen() {
    let bed = Bed::new();
    bed.run(&bed.engine(Policy::new()), &order()).await.expect("runs");
    let engine = engine(&bed, &cache(&bed, |cache| cache), Policy::new());
    assert_eq!(source(&bed.run(&engine, &order()).await), Some(ReplaySource::Store));
    assert_eq!(source(&bed.run(&engine, &order()).await), Some(ReplaySource::Cache));
}

#[tokio::test]
async fn an_unfinished_claim_is_never_remembered() {
    let bed = Bed::new();
    let here = cache(&bed, |cache| cache);
    bed.die(&bed.engine(Policy::new()), &order()).await;
    let engine = engine(&bed, &here, Policy::new());
    let busy = refusal(bed.run(&engine, &order()).await);
    assert!(busy.is_already_in_progress());
    let asked = bed.store.calls().len();
    refusal(bed.run(&engine, &order()).await);
    assert_eq!(bed.store.calls().len(), asked + 1);
    bed.clock.advance(TIME + Policy::DEFAULT_MARGIN + Duration::from_secs(1));
    assert_eq!(bed.run(&engine, &order()).await.expect("takes over").name(), "Executed");
}

#[tokio::test]
async fn other_content_is_a_mismatch_from_memory_too() {
    let bed = Bed::new();
    let engine = engine(&bed, &cache(&bed, |cache| cache), Policy::new());
    bed.run(&engine, &order()).await.expect("runs");
    let calls = bed.store.calls().len();
    let other = json!({"id": 77, "instruction": "30s teaser"});
    assert!(refusal(bed.run(&engine, &other).await).is_payload_mismatch());
    assert_eq!((bed.store.calls().len(), bed.effects()), (calls, 1));
}

#[tokio::test]
async fn an_expired_record_is_not_answered_however_young_the_memory_is() {
    let bed = Bed::new();
    let policy = Policy::new().expires_after(Duration::from_secs(40));
    let engine = engine(&bed, &cache(&bed, |cache| cache.max_age(Duration::from_secs(3600))), policy);
    bed.run(&engine, &order()).await.expect("runs");
    bed.clock.advance(Duration::from_secs(39));
    assert_eq!(source(&bed.run(&engine, &order()).await), Some(ReplaySource::Cache));
    bed.clock.advance(Duration::from_secs(3));
    assert_eq!(bed.run(&engine, &order()).await.expect("runs").name(), "Executed");
    assert_eq!(bed.effects(), 2);
}

#[tokio::test]
async fn after_its_age_the_store_is_asked_again() {
    let bed = Bed::new();
    let engine = engine(&bed, &cache(&bed, |cache| cache.max_age(Duration::from_secs(60))), Policy::new());
    bed.run(&engine, &order()).await.expect("runs");
    bed.clock.advance(Duration::from_secs(61));
    assert_eq!(source(&bed.run(&engine, &order()).await), Some(ReplaySource::Store));
    assert_eq!(source(&bed.run(&engine, &order()).await), Some(ReplaySource::Cache));
}

#[tokio::test]
async fn a_deleted_record_is_answered_until_it_is_invalidated() {
    let bed = Bed::new();
    let here = cache(&bed, |cache| cache);
    let engine = engine(&bed, &here, Policy::new());
    bed.run(&engine, &order()).await.expect("runs");
    let record = bed.record().expect("is there");
    let gone = Record { expiration: START.minus(TIME).floor_seconds(), ..record.clone() };
    bed.store.inner().put(gone);
    assert_eq!(source(&bed.run(&engine, &order()).await), Some(ReplaySource::Cache));
    here.invalidate(&record.id);
    assert_eq!(bed.run(&engine, &order()).await.expect("runs").name(), "Executed");
    bed.store.inner().put(Record { expiration: START.minus(TIME).floor_seconds(), ..record });
    here.clear();
    assert_eq!(bed.run(&engine, &order()).await.expect("runs").name(), "Executed");
}

#[tokio::test]
async fn no_room_and_little_room_answer_as_well() {
    for (most, bytes) in [(0, usize::MAX), (1, usize::MAX), (usize::MAX, 0), (usize::MAX, 400)] {
        let bed = Bed::new();
        let here = Arc::new(Cached::new(Arc::clone(&bed.store)).entries(most).bytes(bytes));
        let engine = engine(&bed, &here, Policy::new());
        for round in 0..3 {
            for id in 0..3 {
                let ran = bed.run(&engine, &numbered(id)).await.expect("answers");
                assert_eq!(ran.is_replayed(), round > 0, "{most} entries, {bytes} bytes");
                assert_eq!(ran.into_value(), Some(format!("run-{}", id + 1)));
            }
        }
        assert_eq!(bed.effects(), 3);
    }
}

#[tokio::test]
async fn the_one_not_asked_for_longest_goes_first() {
    let bed = Bed::new();
    let here = cache(&bed, |cache| cache.entries(2));
    let engine = engine(&bed, &here, Policy::new());
    for id in [1, 2, 1, 3] {
        bed.run(&engine, &numbered(id)).await.expect("answers");
    }
    assert_eq!(source(&bed.run(&engine, &numbered(1)).await), Some(ReplaySource::Cache));
    assert_eq!(source(&bed.run(&engine, &numbered(2)).await), Some(ReplaySource::Store));
}

struct Remembering(Cached<MemoryStore>, ManualClock);

#[async_trait::async_trait]
impl Subject for Remembering {
    fn store(&self) -> &dyn Store {
        &self.0
    }
    fn now(&self) -> EpochMillis {
        self.1.now()
    }
    async fn advance(&self, by: Duration) {
        self.1.advance(by);
    }
}

fn remembering() -> Remembering {
    let cached = Cached::new(MemoryStore::new()).max_age(Duration::from_secs(3600));
    Remembering(cached, ManualClock::at(EpochMillis::new(1_900_000_000_700)))
}

#[tokio::test]
async fn it_conforms_as_the_store_inside_does() {
    let subject = remembering();
    conformance::run(&subject).await.assert();
    assert!(subject.0.inner().records().len() > 10);
}

#[tokio::test]
async fn random_histories_do_not_diverge() {
    for seed in 0..50 {
        if let Err(difference) = histories::play(&remembering(), seed, 200).await {
            panic!("{difference}");
        }
    }
}

#[tokio::test]
async fn a_wall_clock_that_went_back_is_not_trusted() {
    let bed = Bed::new();
    let here = cache(&bed, |cache| cache);
    let engine = engine(&bed, &here, Policy::new());
    bed.run(&engine, &order()).await.expect("runs");
    bed.clock.set(START.minus(Duration::from_secs(60)));
    assert_eq!(source(&bed.run(&engine, &order()).await), Some(ReplaySource::Store));
}

#[tokio::test]
async fn a_read_asks_the_store_and_mends_what_is_remembered() {
    let bed = Bed::new();
    let here = cache(&bed, |cache| cache);
    let engine = engine(&bed, &here, Policy::new());
    bed.run(&engine, &order()).await.expect("runs");
    let record = bed.record().expect("is there");
    bed.store.inner().put(Record { expiration: START.minus(TIME).floor_seconds(), ..record.clone() });
    assert!(here.get(&record.id, START).await.expect("reads").record.is_none());
    assert_eq!(bed.run(&engine, &order()).await.expect("runs").name(), "Executed");
}

#[tokio::test]
async fn an_answer_that_was_on_its_way_when_it_was_invalidated_is_not_remembered() {
    let bed = Bed::with_clock(ManualClock::held_at(START));
    let here = cache(&bed, |cache| cache);
    let engine = engine(&bed, &here, Policy::new());
    bed.run(&bed.engine(Policy::new()), &order()).await.expect("runs");
    let id = bed.record().expect("is there").id;
    bed.store.break_next(Verb::Claim, Fault::Delay(Duration::from_secs(1)));
    let input = order();
    let late = bed.run(&engine, &input);
    let mut late = Box::pin(late);
    assert!(futures_util::poll!(&mut late).is_pending());
    here.invalidate(&id);
    bed.clock.advance(Duration::from_secs(1));
    assert_eq!(source(&late.await), Some(ReplaySource::Store));
    assert_eq!(source(&bed.run(&engine, &order()).await), Some(ReplaySource::Store));
}

#[test]
fn in_errors_it_is_the_store_inside() {
    assert_eq!(format!("{:?}", Cached::new(MemoryStore::new())), format!("{:?}", MemoryStore::new()));
}

#[tokio::test]
async fn large_results_push_each_other_out() {
    let bed = Bed::new();
    let here = cache(&bed, |cache| cache.bytes(25_000));
    let engine = engine(&bed, &here, Policy::new());
    for id in [1, 2, 3] {
        let input = numbered(id);
        let work = engine.run(&input, |_| async { Ok::<_, &'static str>("x".repeat(10_000)) });
        bed.invoke(TIME, work).await.expect("runs");
    }
    for (id, found) in [(3, ReplaySource::Cache), (2, ReplaySource::Cache), (1, ReplaySource::Store)] {
        assert_eq!(source(&bed.run(&engine, &numbered(id)).await), Some(found), "{id}");
    }
}
