//! Minutes of random faults on ten thousand keys: engines in this process, each with a client of its own, on
//! a table behind the proxy that breaks connections.
//!
//! `UNDER_FIRE_SECONDS` says how long. What was seen is printed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::try_join_all;
use lambda_idempotency::decide::Deadline;
use lambda_idempotency::{
    Attempt, DynamoDbStore, Engine, InProgress, Invocation, Key, OnError, Outcome, Policy, RunError,
};
use lambda_idempotency_tests::{ORDER_KEY, TABLE, TestResult, client, name_of};
use loopback::DynamoDb;
use under_fire::{Chaos, Seed, now_ms, order};

const KEYS: u64 = 10_000;
const CALLERS: usize = 64;
/// A few keys are what everybody asks for at the moment: that is where the races are.
const POPULAR: u64 = 6;
/// So long.
const MOMENT_MS: i64 = 2_500;
const MARGIN_MS: i64 = 300;
const LEASE_MS: u64 = 1_500;

/// One run of the work, as it saw itself.
#[derive(Clone, Debug)]
struct Run {
    began_ms: i64,
    /// When it returned, panicked or was dropped.
    ended_ms: Option<i64>,
    lease_end_ms: i64,
    end: End,
    takeover: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Ok,
    Err,
    Panic,
    Dropped,
    /// It outlived its lease and returned.
    Late,
}

/// An answer that a caller got, and when.
#[derive(Clone, Debug)]
struct Given {
    at_ms: i64,
    value: String,
    executed: bool,
}

#[derive(Debug, Default)]
struct Story {
    runs: Vec<Run>,
    given: Vec<Given>,
}

#[derive(Debug, Default)]
struct Seen {
    keys: BTreeMap<u64, Story>,
    answers: BTreeMap<&'static str, usize>,
}

#[derive(Clone, Debug, Default)]
struct Book(Arc<Mutex<Seen>>);

impl Book {
    fn open(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, key: u64, attempt: &Attempt, end: End) -> usize {
        let mut seen = self.open();
        let runs = &mut seen.keys.entry(key).or_default().runs;
        runs.push(Run {
            began_ms: now_ms(),
            ended_ms: None,
            lease_end_ms: attempt.lease_end().get(),
            end,
            takeover: attempt.is_takeover(),
        });
        runs.len() - 1
    }

    fn end(&self, key: u64, run: usize) {
        if let Some(run) = self.open().keys.get_mut(&key).and_then(|key| key.runs.get_mut(run)) {
            run.ended_ms = Some(now_ms());
        }
    }
}

/// Notes the end of a run, also of one that is dropped.
struct Ending(Book, u64, usize);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end(self.1, self.2);
    }
}

#[derive(Debug, thiserror::Error)]
#[error("as asked")]
struct Asked;

/// One call of one caller.
async fn call(engine: &Engine, key: u64, book: &Book, seed: &mut Seed) {
    let end = match seed.below(100) {
        0..70 => End::Ok,
        70..80 => End::Err,
        80..86 => End::Panic,
        86..94 => End::Dropped,
        _ => End::Late,
    };
    let pause = seed.millis(40);
    let ran = AtomicBool::new(false);
    let ran = &ran;
    let work = |attempt: Attempt| async move {
        ran.store(true, Ordering::Relaxed);
        let run = book.begin(key, &attempt, end);
        let _ending = Ending(book.clone(), key, run);
        tokio::time::sleep(pause).await;
        match end {
            End::Ok => {}
            End::Err => return Err(Asked),
            End::Panic => panic!("as asked"),
            End::Dropped => std::future::pending().await,
            End::Late => {
                let left = attempt.time_left() + Duration::from_millis(MARGIN_MS.unsigned_abs());
                tokio::time::sleep(left + pause * 10).await;
            }
        }
        Ok(format!("{key}/{run}"))
    };
    // A deadline makes the completion end its retries; the lease is the deadline.
    let deadline = u64::try_from(now_ms()).unwrap_or_default() + LEASE_MS;
    let invocation = Invocation::new(Deadline::from_epoch_millis(deadline));
    let input = order(key);
    let guarded = std::panic::AssertUnwindSafe(invocation.scope(engine.run(&input, work))).catch_unwind();
    let answer = if end == End::Dropped {
        match tokio::time::timeout(Duration::from_millis(600), guarded).await {
            Err(_) => return *book.open().answers.entry("dropped by its caller").or_default() += 1,
            Ok(answer) => answer,
        }
    } else {
        guarded.await
    };
    let Ok(answer) = answer else {
        return *book.open().answers.entry("panicked").or_default() += 1;
    };
    let ran_late = end == End::Late && ran.load(Ordering::Relaxed);
    let at_ms = now_ms();
    let mut seen = book.open();
    let name = match (name_of(&answer), ran_late) {
        ("Replayed", true) => "Replayed to a zombie",
        (name, _) => name,
    };
    *seen.answers.entry(name).or_default() += 1;
    if let Ok(outcome) = answer {
        let executed = matches!(outcome, Outcome::Executed(_));
        if let Some(value) = outcome.into_value() {
            seen.keys.entry(key).or_default().given.push(Given { at_ms, value, executed });
        }
    }
}

/// What the promises say of one key.
fn judge(id: u64, key: &Story) -> Result<(), String> {
    let fail = |what: &str| Err(format!("{what}: order {id}: {key:#?}"));
    // One answer for everybody, and it is of a run that was made.
    if key.given.windows(2).any(|pair| pair[0].value != pair[1].value) {
        return fail("two answers");
    }
    if let Some(given) = key.given.first() {
        let run = given.value.rsplit('/').next().and_then(|run| run.parse::<usize>().ok());
        let Some(run) = run.and_then(|run| key.runs.get(run)) else { return fail("an answer of no run") };
        if !matches!(run.end, End::Ok | End::Late) {
            return fail("an answer of a run that had none");
        }
    }
    if key.given.iter().filter(|given| given.executed).count() > 1 {
        return fail("two ran and were both recorded");
    }
    // Nobody runs after an answer was given.
    let answered = key.given.iter().map(|given| given.at_ms).min();
    if let Some(answered) = answered
        && key.runs.iter().any(|run| run.began_ms > answered)
    {
        return fail("a run after the answer");
    }
    // One run per lease: the next begins after the end of the one before it, or after its lease and margin.
    for pair in key.runs.windows(2) {
        let may_begin = pair[0].lease_end_ms + MARGIN_MS;
        let gave_back = matches!(pair[0].end, End::Err | End::Panic);
        let given_back = pair[0].ended_ms.filter(|_| gave_back);
        let in_time = pair[1].began_ms >= given_back.map_or(may_begin, |ended| ended.min(may_begin));
        if !in_time {
            return fail("two runs in one lease");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "takes minutes: see docs/testing.md"]
async fn soak() -> TestResult {
    let seconds = std::env::var("UNDER_FIRE_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(600);
    run(Duration::from_secs(seconds), 12).await
}

/// The same for as long as a test may take.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_short_soak() -> TestResult {
    run(Duration::from_secs(6), 12).await
}

async fn run(time: Duration, break_percent: u64) -> TestResult {
    // The panics are asked for, and there are thousands.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload_as_str() != Some("as asked") {
            usual(panic);
        }
    }));
    let mut seed = Seed::new();
    let dynamo = DynamoDb::start().await?;
    dynamo.create_table(TABLE).await?;
    let chaos = Chaos::start(dynamo.endpoint(), seed.part()).await?;
    chaos.break_percent(break_percent);
    let book = Book::default();
    let ends = Instant::now() + time;

    let mut callers = Vec::new();
    for number in 0..CALLERS {
        let store = DynamoDbStore::new(client(&chaos.endpoint()), TABLE);
        let in_progress = match number % 3 {
            0 => InProgress::Wait(Duration::from_millis(800)),
            _ => InProgress::Refuse,
        };
        let on_error = if number % 8 == 0 { OnError::Keep } else { OnError::Release };
        let policy = Policy::new()
            .margin(Duration::from_millis(MARGIN_MS.unsigned_abs()))
            .expires_after(Duration::from_secs(24 * 3600))
            .store_timeout(Duration::from_millis(700))
            .in_progress(in_progress)
            .on_error(on_error);
        let engine = Engine::new("soak", store, Key::parse(ORDER_KEY)?)?.policy(policy)?;
        let (book, mut seed) = (book.clone(), seed.part());
        callers.push(tokio::spawn(async move {
            while Instant::now() < ends {
                let moment = u64::try_from(now_ms() / MOMENT_MS).unwrap_or_default();
                let popular = (moment * POPULAR + seed.below(POPULAR)) % KEYS;
                let key = if seed.percent(40) { popular } else { seed.below(KEYS) };
                call(&engine, key, &book, &mut seed).await;
            }
        }));
    }
    let outages = async {
        loop {
            tokio::time::sleep(Duration::from_secs(3) + seed.millis(20_000)).await;
            chaos.down(true);
            tokio::time::sleep(seed.millis(2_500)).await;
            chaos.down(false);
        }
    };
    let callers = try_join_all(callers);
    tokio::select! {
        done = callers => drop(done?),
        () = outages => {}
    }

    // Everything heals: each key that anybody asked for has an answer within lease and margin.
    chaos.down(false);
    chaos.break_percent(0);
    tokio::time::sleep(Duration::from_millis(LEASE_MS + MARGIN_MS.unsigned_abs() + 50)).await;
    let store = DynamoDbStore::new(client(dynamo.endpoint()), TABLE);
    let policy = Policy::new().margin(Duration::from_millis(MARGIN_MS.unsigned_abs()));
    let engine = Engine::new("soak", store, Key::parse(ORDER_KEY)?)?.policy(policy)?;
    let asked: Vec<u64> = book.open().keys.keys().copied().collect();
    let mut stuck = Vec::new();
    for key in asked {
        let work = |attempt: Attempt| {
            let run = book.begin(key, &attempt, End::Ok);
            let _ending = Ending(book.clone(), key, run);
            async move { Ok::<_, Asked>(format!("{key}/{run}")) }
        };
        match engine.run(&order(key), work).await {
            Ok(outcome) => {
                let executed = matches!(outcome, Outcome::Executed(_));
                let value = outcome.into_value().unwrap_or_default();
                let given = Given { at_ms: now_ms(), value, executed };
                book.open().keys.entry(key).or_default().given.push(given);
            }
            Err(RunError::Idempotency(error)) => stuck.push((key, error.to_string())),
            Err(error) => stuck.push((key, format!("{error:?}"))),
        }
    }

    let seen = book.open();
    let runs: usize = seen.keys.values().map(|key| key.runs.len()).sum();
    let takeovers: usize = seen.keys.values().flat_map(|key| &key.runs).filter(|run| run.takeover).count();
    let calls: usize = seen.answers.values().sum();
    println!(
        "{} keys, {calls} calls, {runs} runs, {takeovers} takeovers, {:?}",
        seen.keys.len(),
        seen.answers
    );
    println!("{:?}", chaos.tally());
    assert_eq!(stuck, [], "everybody is done in the end");
    let broken: Vec<String> = seen.keys.iter().filter_map(|(id, key)| judge(*id, key).err()).collect();
    assert!(broken.is_empty(), "{} keys:\n{}", broken.len(), broken.first().cloned().unwrap_or_default());
    let never = ["Unprotected", "PayloadMismatch", "CorruptRecord", "Config", "ReplayDecode", "Interrupted"];
    assert!(never.iter().all(|name| !seen.answers.contains_key(name)), "{:?}", seen.answers);
    Ok(())
}

#[test]
fn the_judge_sees_each_broken_promise() {
    let run = |began_ms, end, takeover| Run {
        began_ms,
        ended_ms: Some(began_ms + 10),
        lease_end_ms: began_ms + 1_000,
        end,
        takeover,
    };
    let given = |at_ms, value: &str, executed| Given { at_ms, value: value.to_owned(), executed };
    let story = |runs: Vec<Run>, given: Vec<Given>| judge(1, &Story { runs, given });
    let verdict = |judged: Result<(), String>| judged.err().unwrap_or_default();

    let (first, later) = (run(0, End::Ok, false), run(1_300, End::Ok, true));
    let (mine, yours) = (given(20, "1/0", true), given(30, "1/0", false));
    assert_eq!(story(vec![first.clone()], vec![mine.clone(), yours.clone()]), Ok(()));
    assert_eq!(
        story(vec![run(0, End::Err, false), run(10, End::Ok, false)], vec![given(30, "1/1", true)]),
        Ok(())
    );
    assert_eq!(
        story(vec![run(0, End::Dropped, false), later.clone()], vec![given(1_400, "1/1", true)]),
        Ok(())
    );

    let broken = |what: &str, judged| assert!(verdict(judged).starts_with(what), "{what}");
    broken(
        "two answers",
        story(vec![first.clone(), later.clone()], vec![mine.clone(), given(1_400, "1/1", false)]),
    );
    broken("an answer of no run", story(vec![], vec![yours.clone()]));
    broken("an answer of a run that had none", story(vec![run(0, End::Err, false)], vec![mine.clone()]));
    broken("two ran and were both recorded", story(vec![first.clone()], vec![mine.clone(), mine.clone()]));
    broken("a run after the answer", story(vec![first.clone(), later.clone()], vec![mine]));
    for early in [run(1_299, End::Ok, true), run(5, End::Ok, false)] {
        broken("two runs in one lease", story(vec![run(0, End::Dropped, false), early.clone()], vec![]));
        broken("two runs in one lease", story(vec![first.clone(), early], vec![]));
    }
    broken("two runs in one lease", story(vec![run(0, End::Err, false), run(9, End::Ok, false)], vec![]));
}
