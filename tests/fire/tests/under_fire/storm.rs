//! Eight real workers on a handful of keys, with duplicates, killed and frozen in the middle, behind a proxy
//! that breaks connections by chance, and with the store away for a while.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use futures_util::future::{join_all, try_join_all};
use lambda_idempotency_tests::TestResult;
use loopback::{Answer, Provider, signal};
use serde_json::Value;
use under_fire::{Seed, Stage, millis_of, order};

use crate::{LONG, courier_binary, deliver_unenforced, message, orders_binary, returned};

const WORKERS: usize = 8;
const KEYS: u64 = 6;
const DELIVERIES: usize = 5;
const TIMEOUT: Duration = Duration::from_secs(3);
/// The longest that the provider takes for a call.
const CALL_MS: u64 = 500;
/// The bound of a whole storm.
const BOUND: Duration = Duration::from_secs(240);

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What is done to deliveries.
#[derive(Clone, Copy, Debug)]
struct Weather {
    /// This often in a hundred the worker is killed at some moment.
    kill: u64,
    /// This often in a hundred it is frozen until its lease has passed.
    freeze: u64,
    /// This often in a hundred a piece of a request is broken.
    breaks: u64,
    /// Whether the store goes away in the middle, and comes back.
    outage: bool,
}

/// What happened to the deliveries of one key.
#[derive(Clone, Debug, Default)]
struct Story {
    /// Ended without an answer: killed, or stopped at the deadline.
    deaths: usize,
    /// Frozen past their deadline.
    frozen: usize,
    /// What those who got an answer got.
    answers: Vec<String>,
}

/// Delivers until it is done, as a queue does.
async fn deliver(
    stage: &Stage,
    order: &Value,
    payload: &str,
    weather: Weather,
    mut seed: Seed,
) -> Result<Story, Failure> {
    let mut story = Story::default();
    tokio::time::sleep(seed.millis(300)).await;
    for attempt in 0.. {
        // Bad luck strikes the first attempts, or nobody would ever be done.
        let (kill, freeze) = match attempt {
            0..3 => (seed.percent(weather.kill), seed.percent(weather.freeze)),
            _ => (false, false),
        };
        let answer = if kill {
            let invocation = stage.lambda.invoke(payload, TIMEOUT);
            invocation.started().await?;
            tokio::time::sleep(seed.millis(CALL_MS)).await;
            invocation.kill().await
        } else if freeze {
            let invocation = deliver_unenforced(stage, payload.to_owned(), TIMEOUT);
            let worker = invocation.started().await?;
            tokio::time::sleep(seed.millis(CALL_MS)).await;
            // It may be done and working for another by now: that one is frozen instead.
            if signal(worker.pid, "STOP").await.is_ok() {
                story.frozen += 1;
                tokio::time::sleep(TIMEOUT + Duration::from_millis(2_500)).await;
                let _ = signal(worker.pid, "CONT").await;
            }
            invocation.result().await
        } else {
            stage.lambda.invoke(payload, TIMEOUT).result().await
        };
        match &answer {
            Answer::Response(text) if returned(&answer).is_none() => {
                // The courier's reply: what the run saw is the answer, the rest is this invocation's.
                let reply: Value = serde_json::from_str(text)?;
                story.answers.push(reply["answer"].to_string());
                return Ok(story);
            }
            Answer::Response(_) if returned(&answer) == Some(0) => {
                story.answers.push(stage.data(order).await?.to_string());
                return Ok(story);
            }
            Answer::Response(_) | Answer::FunctionError { .. } => {}
            Answer::Killed | Answer::TimedOut | Answer::Exited(_) => story.deaths += 1,
            Answer::Stopped => return Err("stopped".into()),
        }
        tokio::time::sleep(Duration::from_millis(50) + seed.millis(200)).await;
    }
    Ok(story)
}

/// A provider that takes its time, so that most of what happens to a worker happens within its call.
async fn slow_calls(provider: &Provider, mut seed: Seed) {
    loop {
        let held = provider.hold_next();
        if held.arrived().await.is_ok() {
            tokio::time::sleep(seed.millis(CALL_MS)).await;
        }
    }
}

async fn storm(
    binary: PathBuf,
    name: &str,
    payload: impl Fn(&Value) -> String,
    weather: Weather,
) -> TestResult {
    let mut seed = Seed::new();
    let stage = Stage::start(binary, name, WORKERS, seed.part()).await?;
    stage.chaos.break_percent(weather.breaks);
    let orders: Vec<Value> = (1..=KEYS).map(order).collect();
    let payloads: Vec<String> = orders.iter().map(payload).collect();

    let deliveries = orders.iter().zip(&payloads).flat_map(|pair| std::iter::repeat_n(pair, DELIVERIES));
    let deliveries = deliveries.map(|(order, payload)| deliver(&stage, order, payload, weather, seed.part()));
    let deliveries = try_join_all(deliveries.collect::<Vec<_>>());
    let slow = join_all((0..WORKERS).map(|_| slow_calls(&stage.provider, seed.part())).collect::<Vec<_>>());
    let outage = async {
        if weather.outage {
            tokio::time::sleep(Duration::from_millis(1_000)).await;
            stage.chaos.down(true);
            tokio::time::sleep(Duration::from_millis(1_500)).await;
            stage.chaos.down(false);
        }
    };
    let stories = tokio::time::timeout(BOUND, async {
        tokio::select! {
            (stories, ()) = async { tokio::join!(deliveries, outage) } => stories,
            _ = slow => unreachable!("it is slow for ever"),
        }
    });
    let stories = stories.await??;
    println!("{weather:?}: {:?}", stage.chaos.tally());

    for (index, order) in orders.iter().enumerate() {
        let stories = &stories[index * DELIVERIES..][..DELIVERIES];
        judge(&stage, order, stories, weather).await?;
    }
    stage.stop().await;
    Ok(())
}

/// One call for each key, but for what the log or the killer names; one answer for everybody.
async fn judge(stage: &Stage, order: &Value, stories: &[Story], weather: Weather) -> TestResult {
    let log = stage.log(order)?;
    let deaths: usize = stories.iter().map(|story| story.deaths).sum();
    let frozen: usize = stories.iter().map(|story| story.frozen).sum();
    let calls = stage.calls(order);
    let said = format!("{order}: {calls} calls, {deaths} deaths, {frozen} frozen, {log:?}, {stories:?}");
    println!(
        "{}: {calls} calls, {deaths} deaths, {frozen} frozen, {} takeovers, {} zombies",
        order["order_id"],
        log.takeovers(),
        log.zombies()
    );

    // Each call but the first followed one that was killed, gave up, or was not recorded, or is a takeover.
    let named = log.takeovers() + deaths + log.outcomes("FunctionFailed") + log.outcomes("NotRecorded");
    assert!((1..=1 + named).contains(&calls), "{said}");
    if weather.kill + weather.freeze + weather.breaks == 0 && !weather.outage {
        assert_eq!(calls, 1, "{said}");
    }
    // One call per lease: between two is the margin at least. Who was frozen may call when it wakes, and who
    // failed gave the key back.
    let times: Vec<_> = stage.calls_of(order).iter().map(|call| call.at).collect();
    let apart = |pair: &[SystemTime]| pair[1].duration_since(pair[0]).unwrap_or_default();
    if frozen + log.outcomes("FunctionFailed") == 0 {
        assert!(times.windows(2).all(|pair| apart(pair) > Duration::from_millis(1_500)), "{times:?} {said}");
    }
    assert_eq!(log.outcomes("Unprotected"), 0, "{said}");

    let answers: Vec<&String> = stories.iter().flat_map(|story| &story.answers).collect();
    assert_eq!(answers.len(), DELIVERIES, "everybody is done in the end: {said}");
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{said}");
    let recorded = stage.data(order).await?;
    assert_eq!(**answers[0], recorded.to_string(), "{said}");

    // And the answer is of a call that was made, for this order.
    let all = stage.provider.calls();
    let run = recorded["run_id"].as_str().and_then(|run| run.strip_prefix("run-")).ok_or("no run")?;
    let call = all.get(run.parse::<usize>()? - 1).ok_or("no such call")?;
    assert_eq!(call.order_id, order["order_id"].to_string(), "{said}");
    Ok(())
}

#[tokio::test]
async fn duplicates_alone_are_one_call_each() -> TestResult {
    let calm = Weather { kill: 0, freeze: 0, breaks: 0, outage: false };
    storm(orders_binary().await?, "orders.submit", message, calm).await
}

#[tokio::test]
async fn orders_in_a_storm() -> TestResult {
    let weather = Weather { kill: 20, freeze: 10, breaks: 25, outage: true };
    storm(orders_binary().await?, "orders.submit", message, weather).await
}

#[tokio::test]
async fn answers_in_a_storm() -> TestResult {
    let weather = Weather { kill: 20, freeze: 10, breaks: 25, outage: true };
    storm(courier_binary(), "courier", Value::to_string, weather).await
}

/// SIGKILL exactly between the call and its completion, of all eight at once.
#[tokio::test]
async fn eight_workers_killed_in_their_calls_are_eight_calls_more_and_no_other() -> TestResult {
    let stage = Stage::start(orders_binary().await?, "orders.submit", WORKERS, Seed::new()).await?;
    let orders: Vec<Value> = (1..).take(WORKERS).map(order).collect();
    let held: Vec<_> =
        orders.iter().map(|order| stage.provider.hold_for(&order["order_id"].to_string(), 1)).collect();
    // Long enough for eight to be in their calls at once; killed before it ends.
    let deadline = Duration::from_secs(4);
    let doomed: Vec<_> =
        orders.iter().map(|order| deliver_unenforced(&stage, message(order), deadline)).collect();
    try_join_all(held.iter().map(|held| held.arrived())).await?;
    let killed = join_all(doomed.iter().map(|invocation| invocation.kill())).await;
    assert_eq!(killed, vec![Answer::Killed; WORKERS]);
    drop(held);

    // Until the lease and its margin have passed everybody is told to come back, and then one takes over.
    for (order, lease_ends) in orders.iter().zip(leases(&stage, &orders).await?) {
        under_fire::until_ms(lease_ends + 2_001).await;
        let payload = message(order);
        let twice = [stage.lambda.invoke(&payload, LONG), stage.lambda.invoke(&payload, LONG)];
        let returned: BTreeMap<_, _> = join_all(twice.iter().map(|invocation| invocation.result()))
            .await
            .iter()
            .map(returned)
            .zip(0..)
            .collect();
        assert!(returned.contains_key(&Some(0)), "{returned:?}");
        let log = stage.log(order)?;
        assert_eq!((stage.calls(order), log.takeovers(), log.zombies()), (2, 1, 0));
    }
    stage.stop().await;
    Ok(())
}

async fn leases(stage: &Stage, orders: &[Value]) -> Result<Vec<i64>, Failure> {
    let mut leases = Vec::new();
    for order in orders {
        leases.push(millis_of(&stage.item(order).await?, "in_progress_expiration")?);
    }
    Ok(leases)
}

/// The store goes away between the call and its completion, and comes back before the deadline.
#[tokio::test]
async fn a_completion_outlasts_an_outage_that_is_shorter_than_the_deadline() -> TestResult {
    let stage = Stage::start(orders_binary().await?, "orders.submit", 1, Seed::new()).await?;
    let order = order(77);
    let held = stage.provider.hold_for("77", 1);
    let invocation = stage.lambda.invoke(message(&order), LONG);
    held.arrived().await?;
    stage.chaos.down(true);
    held.answer();
    stage.lambda.wait_for_line(|line| line.text.contains("the completion is tried again"), LONG).await?;
    stage.chaos.down(false);
    assert_eq!(returned(&invocation.result().await), Some(0));
    let log = stage.log(&order)?;
    assert_eq!((stage.calls(&order), log.outcomes("Executed")), (1, 1));
    stage.stop().await;
    Ok(())
}

/// The outage outlasts the deadline: the result is not recorded, which is said, and the lease holds.
#[tokio::test]
async fn an_outage_that_outlasts_the_deadline_is_named_and_later_taken_over() -> TestResult {
    let stage = Stage::start(orders_binary().await?, "orders.submit", 1, Seed::new()).await?;
    let order = order(77);
    let held = stage.provider.hold_for("77", 1);
    let invocation = deliver_unenforced(&stage, message(&order), Duration::from_secs(3));
    held.arrived().await?;
    stage.chaos.down(true);
    held.answer();
    assert_eq!(returned(&invocation.result().await), Some(1));
    assert_eq!(stage.log(&order)?.outcomes("NotRecorded"), 1);

    // Away for everybody: nothing runs without a claim.
    assert_eq!(returned(&stage.lambda.invoke(message(&order), LONG).result().await), Some(1));
    assert_eq!((stage.calls(&order), stage.log(&order)?.outcomes("Store")), (1, 1));

    stage.chaos.down(false);
    stage.lease_has_passed(&order).await?;
    assert_eq!(returned(&stage.lambda.invoke(message(&order), LONG).result().await), Some(0));
    assert_eq!((stage.calls(&order), stage.log(&order)?.takeovers()), (2, 1));
    stage.stop().await;
    Ok(())
}
