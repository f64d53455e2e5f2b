//! `lambda_runtime::run_concurrent` (managed instances): 64 invocations at once in one process.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join_all, try_join_all};
use lambda_idempotency::{Attempt, IdempotencyLayer, Invocation as Current, Key, MemoryStore, Policy};
use lambda_idempotency_tests::TestResult;
use lambda_runtime::LambdaEvent;
use lambda_runtime::tower::{Layer, Service};
use loopback::{Answer, DeadlineHeader, Event, Invocation, LambdaOptions};
use serde_json::Value;
use tokio::sync::Barrier;
use under_fire::{Seed, Stage, millis_of, now_ms, order};

use crate::{LONG, courier_binary};

const INVOCATIONS: u64 = 64;

async fn stage() -> Result<Stage, Box<dyn std::error::Error + Send + Sync>> {
    let mut options = LambdaOptions::new(courier_binary(), "under-fire");
    options.concurrency = usize::try_from(INVOCATIONS)?;
    Stage::start_with(options, "courier", Seed::new()).await
}

/// A deadline of its own for each: they end within two minutes, each a second and a bit after the last.
fn deadline(start: i64, order_id: u64) -> u64 {
    let start = u64::try_from(start).unwrap_or_default();
    start + 60_000 + order_id * 1_007
}

fn send(stage: &Stage, order: &Value, deadline: u64) -> Invocation {
    stage.lambda.send(Event { deadline: DeadlineHeader::Ms(deadline), ..Event::new(order.to_string(), LONG) })
}

async fn reply(invocation: &Invocation) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
    match invocation.result().await {
        Answer::Response(text) => Ok(serde_json::from_str(&text)?),
        other => Err(format!("{other:?}").into()),
    }
}

#[tokio::test]
async fn each_of_64_invocations_has_its_own_deadline_lease_and_token_cold_and_warm() -> TestResult {
    let stage = stage().await?;
    let worker = stage.lambda.workers();
    let mut tokens = std::collections::BTreeSet::new();
    for round in 0..3 {
        let orders: Vec<Value> = (1..=INVOCATIONS).map(|id| order(round * 1_000 + id)).collect();
        let held: Vec<_> =
            orders.iter().map(|order| stage.provider.hold_for(&order["order_id"].to_string(), 1)).collect();
        let start = now_ms();
        let deadlines: Vec<u64> = (1..=INVOCATIONS).map(|id| deadline(start, id)).collect();
        let invocations: Vec<_> =
            orders.iter().zip(&deadlines).map(|(order, deadline)| send(&stage, order, *deadline)).collect();
        // All of them are in their calls at the same time.
        try_join_all(held.iter().map(|held| held.arrived())).await?;
        for (order, deadline) in orders.iter().zip(&deadlines) {
            let lease_end = millis_of(&stage.item(order).await?, "in_progress_expiration")?;
            assert_eq!(u64::try_from(lease_end)?, *deadline, "{order}");
        }
        drop(held);
        for ((order, deadline), invocation) in orders.iter().zip(&deadlines).zip(&invocations) {
            let reply = reply(invocation).await?;
            let answer = &reply["answer"];
            assert_eq!(answer["order_id"], order["order_id"]);
            assert_eq!(answer["request_id"], *invocation.request_id);
            assert_eq!(answer["lease_end_ms"], *deadline);
            assert_eq!(answer["deadline_ms"], *deadline);
            assert_eq!(reply["request_id"], *invocation.request_id);
            assert_eq!(reply["deadline_ms"], *deadline);
            assert_eq!(reply["attempt_goes_on"], false, "an attempt ends with its function");
            tokens.insert(answer["token"].as_str().ok_or("no token")?.to_owned());
        }

        // Again, with other deadlines: the stored answers, in other invocations.
        let again = orders.iter().map(|order| send(&stage, order, deadline(start, 500)));
        let again: Vec<_> = again.collect();
        for (first, second) in invocations.iter().zip(&again) {
            let (first, second) = (reply(first).await?, reply(second).await?);
            assert_eq!(first["answer"], second["answer"]);
            assert_eq!(second["deadline_ms"], deadline(start, 500));
            assert_ne!(first["request_id"], second["request_id"]);
        }
    }
    assert_eq!(tokens.len(), 3 * 64);
    assert_eq!(stage.provider.calls().len(), 3 * 64);
    assert_eq!(stage.lambda.workers(), worker, "one process did all of it");
    stage.stop().await;
    Ok(())
}

#[tokio::test]
async fn of_64_invocations_of_one_key_in_one_process_one_runs() -> TestResult {
    let stage = stage().await?;
    let order = order(77);
    let held = stage.provider.hold_for("77", 1);
    let invocations: Vec<_> =
        (0..INVOCATIONS).map(|_| stage.lambda.invoke(order.to_string(), LONG)).collect();
    held.arrived().await?;
    let many = usize::try_from(INVOCATIONS)?;
    // All but the one at work are told so while it is.
    while stage.log(&order)?.outcomes("AlreadyInProgress") < many - 1 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    held.answer();
    let answers = join_all(invocations.iter().map(|invocation| invocation.result())).await;
    let answered = answers.iter().filter(|answer| matches!(answer, Answer::Response(_))).count();
    assert_eq!((answered, stage.calls(&order)), (1, 1));
    stage.stop().await;
    Ok(())
}

/// A panic ends one invocation, not its neighbours.
#[tokio::test]
async fn a_panic_beside_other_invocations_is_one_failure() -> TestResult {
    let stage = stage().await?;
    let good = order(1);
    let held = stage.provider.hold_for("1", 1);
    let neighbour = stage.lambda.invoke(good.to_string(), LONG);
    held.arrived().await?;
    let mut bad = order(2);
    bad["then"] = "panic".into();
    let panicked = stage.lambda.invoke(bad.to_string(), LONG).result().await;
    assert!(matches!(panicked, Answer::FunctionError { .. }), "{panicked:?}");
    held.answer();
    assert_eq!(reply(&neighbour).await?["answer"]["order_id"], 1);
    assert_eq!(stage.log(&order(2))?.outcomes("Panicked"), 1);
    stage.stop().await;
    Ok(())
}

type Handled =
    std::pin::Pin<Box<dyn Future<Output = Result<(u64, Option<i64>, Option<i64>), io::Error>> + Send>>;

/// Answers its order, and the lease and the deadline that it sees when all are inside.
fn handler(inside: &Arc<Barrier>) -> impl Fn(LambdaEvent<Value>) -> Handled + Clone + Send + use<> {
    let inside = Arc::clone(inside);
    move |event: LambdaEvent<Value>| {
        let inside = Arc::clone(&inside);
        Box::pin(async move {
            inside.wait().await;
            let lease_end = Attempt::current().map(|attempt| attempt.lease_end().get());
            let deadline = Current::current().deadline.instant().map(|instant| instant.get());
            Ok((event.payload["order_id"].as_u64().unwrap_or_default(), lease_end, deadline))
        })
    }
}

/// The layer, as `run_concurrent` clones and calls it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clones_of_one_layered_service_do_not_mix_up_their_invocations() -> TestResult {
    let many = usize::try_from(INVOCATIONS)?;
    let inside = Arc::new(Barrier::new(many));
    let layer = IdempotencyLayer::new(MemoryStore::new(), Key::parse("order_id")?, Policy::new())?;
    let service = layer.layer(lambda_runtime::service_fn(handler(&inside)));
    // It can be handed to `run_concurrent`, which would want a runtime API as soon as it is polled.
    drop(lambda_runtime::run_concurrent(service.clone()));

    let start = now_ms();
    let calls = (1..=INVOCATIONS).map(|id| {
        let mut service = service.clone();
        tokio::spawn(async move {
            let mut context = lambda_runtime::Context::default();
            context.deadline = deadline(start, id);
            let payload = serde_json::value::to_raw_value(&order(id))?;
            let answer = service.call(LambdaEvent { payload, context }).await;
            let answer = answer.map_err(|error| error.error_message)?;
            let (order_id, lease_end, at): (u64, u64, u64) = serde_json::from_str(answer.get())?;
            assert_eq!((order_id, lease_end, at), (id, deadline(start, id), deadline(start, id)));
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
        })
    });
    for call in tokio::time::timeout(LONG, try_join_all(calls)).await?? {
        call?;
    }
    Ok(())
}
