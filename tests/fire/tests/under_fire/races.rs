//! Many at the same instant, and the moment between a read and the write that follows it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use lambda_idempotency::testing::ManualClock;
use lambda_idempotency::{DynamoDbStore, Engine, InProgress, Key, Outcome, Policy, RunError};
use lambda_idempotency_tests::{Bench, NOW, ORDER_KEY, PATIENCE, TABLE, TestResult, Work, client, name_of};
use loopback::{DynamoDb, Held, Logged, Proxy};
use tokio::sync::Barrier;
use tokio::task::JoinHandle;
use under_fire::order;

const TASKS: usize = 50;

/// Rounds of 50 callers, each with a client of its own, released together.
async fn stampedes(bench: &Bench, rounds: u64) -> TestResult {
    let engines: Vec<Engine> = (0..TASKS)
        .map(|_| bench.engine_of_another_process("orders.submit", ORDER_KEY))
        .collect::<Result<_, _>>()?;
    for round in 0..rounds {
        let (work, start) = (Work::new(), Arc::new(Barrier::new(TASKS)));
        let callers = engines.iter().cloned().map(|engine| {
            let (work, start) = (work.clone(), Arc::clone(&start));
            tokio::spawn(async move {
                start.wait().await;
                let run = |_| async {
                    let run = work.run();
                    tokio::task::yield_now().await;
                    Ok::<_, io::Error>(run)
                };
                engine.run(&order(round), run).await
            })
        });
        let answers = try_join_all(callers).await?;
        let count = |name: &str| answers.iter().filter(|answer| name_of(answer) == name).count();
        let names: Vec<_> = answers.iter().map(name_of).collect();
        assert_eq!(work.runs(), 1, "round {round}: {names:?}");
        assert_eq!(count("Executed"), 1, "round {round}: {names:?}");
        assert_eq!(count("Replayed") + count("AlreadyInProgress"), TASKS - 1, "round {round}: {names:?}");
        let values = answers.into_iter().filter_map(|answer| answer.ok()?.into_value());
        assert!(values.into_iter().all(|value| value == 1), "round {round}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_stampedes_in_memory() -> TestResult {
    stampedes(&Bench::memory(), 200).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_stampedes_in_dynamodb() -> TestResult {
    stampedes(&Bench::dynamodb().await?, 10).await
}

type Answer = Result<Outcome<String>, RunError<io::Error>>;

/// Callers that wait for each other, on one table, by a clock that the test moves.
struct Scene {
    proxy: Proxy,
    clock: Arc<ManualClock>,
    _dynamo: DynamoDb,
}

impl Scene {
    async fn set() -> Result<Self, loopback::Error> {
        let dynamo = DynamoDb::start().await?;
        dynamo.create_table(TABLE).await?;
        let proxy = Proxy::start(dynamo.endpoint()).await?;
        Ok(Self { proxy, clock: Arc::new(ManualClock::held_at(NOW)), _dynamo: dynamo })
    }

    /// A caller whose work stands still in the middle.
    fn caller(
        &self,
        who: &'static str,
        work: &Work,
    ) -> Result<JoinHandle<Answer>, Box<dyn std::error::Error + Send + Sync>> {
        let store = DynamoDbStore::new(client(&self.proxy.endpoint()), TABLE);
        let policy = Policy::new().in_progress(InProgress::Wait(Duration::from_secs(7_200)));
        let engine = Engine::new("orders.submit", store, Key::parse(ORDER_KEY)?)?.policy(policy)?;
        let (engine, work) = (engine.clock(self.clock.clone()), work.clone());
        Ok(tokio::spawn(async move {
            let run = |_| async {
                work.run_held().await;
                Ok(who.to_owned())
            };
            engine.run(&order(77), run).await
        }))
    }

    /// Lets time pass, a second at a time, until something has happened.
    async fn time_passes_until<T>(
        &self,
        event: impl Future<Output = T>,
    ) -> Result<T, tokio::time::error::Elapsed> {
        let passing = async {
            loop {
                self.clock.advance(Duration::from_secs(1));
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, async {
            tokio::select! {
                happened = event => happened,
                () = passing => unreachable!("it passes for ever"),
            }
        })
        .await
    }

    /// `waiting` callers have been refused by the record of the first, whose lease then passes: each has
    /// read that it may take over, and stands before its write.
    async fn before_their_writes(
        &self,
        waiting: usize,
    ) -> Result<Vec<Held<Logged>>, Box<dyn std::error::Error + Send + Sync>> {
        self.proxy.wait_for("PutItem", 1 + waiting, PATIENCE).await?;
        let held: Vec<_> = (0..waiting).map(|_| self.proxy.hold_next("PutItem")).collect();
        self.clock.advance(Duration::from_secs(903));
        let arrived = try_join_all(held.iter().map(|held| held.arrived()));
        self.time_passes_until(arrived).await??;
        let reads = self.proxy.operations().iter().filter(|operation| *operation == "GetItem").count();
        assert!(reads >= waiting, "each has read before it writes");
        Ok(held)
    }
}

#[tokio::test]
async fn who_completes_between_a_read_and_the_takeover_keeps_its_record() -> TestResult {
    let scene = Scene::set().await?;
    let (late, other) = (Work::new(), Work::new());
    let first = scene.caller("the first", &late)?;
    late.entered().await?;
    let second = scene.caller("the second", &other)?;
    let paused = scene.before_their_writes(1).await?;

    // Past its lease, but nobody has written yet: the record is still the first one's.
    late.go_on();
    assert_eq!(first.await??, Outcome::Executed("the first".to_owned()));
    drop(paused);
    let second = second.await??;
    assert!(second.is_replayed());
    assert_eq!(second.into_value().as_deref(), Some("the first"));
    assert_eq!(other.runs(), 0, "the write that was decided on an old read was refused");
    Ok(())
}

#[tokio::test]
async fn of_two_who_have_read_the_same_abandoned_claim_one_takes_over() -> TestResult {
    let scene = Scene::set().await?;
    let (lost, work) = (Work::new(), Work::new());
    let first = scene.caller("the first", &lost)?;
    lost.entered().await?;
    first.abort();
    let (second, third) = (scene.caller("a successor", &work)?, scene.caller("a successor", &work)?);
    let mut paused = scene.before_their_writes(2).await?;

    paused.remove(0).answer();
    work.entered().await?;
    paused.remove(0).answer();
    // The other is refused by the successor's claim, and waits for it as it waited for the first.
    let reads = || scene.proxy.operations().iter().filter(|operation| *operation == "GetItem").count();
    let before = reads();
    let looked_again = scene.proxy.wait_for("GetItem", before + 1, PATIENCE);
    scene.time_passes_until(looked_again).await??;
    assert_eq!(work.runs(), 1);
    work.go_on();
    let both = async { (second.await, third.await) };
    let (second, third) = scene.time_passes_until(both).await?;
    let mut names = [name_of(&second?), name_of(&third?)];
    names.sort_unstable();
    assert_eq!(names, ["Executed", "Replayed"]);
    assert_eq!(work.runs(), 1);
    Ok(())
}
