//! `wait = "…"`: a process that waits for what another one does.

use std::time::{Duration, Instant};

use lambda_idempotency_tests::TestResult;
use loopback::{Answer, Call, Held, Invocation};
use serde_json::{Value, json};
use under_fire::{Seed, Stage, millis_of, now_ms, order};

use crate::{LONG, courier_binary, deliver_unenforced};

const LEASE: Duration = Duration::from_secs(3);
const MARGIN_MS: i64 = 2_000;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Two processes; the first one works at the order until the provider answers it.
async fn stage(order: &Value, lease: Duration) -> Result<(Stage, Invocation, Held<Call>), Failure> {
    let stage = Stage::start(courier_binary(), "courier", 2, Seed::new()).await?;
    let held = stage.provider.hold_for(&order["order_id"].to_string(), 1);
    let first = deliver_unenforced(&stage, order.to_string(), lease);
    held.arrived().await?;
    Ok((stage, first, held))
}

/// The same order, by one who waits.
fn patient(order: &Value) -> String {
    let mut event = order.clone();
    event["patient"] = json!(true);
    event.to_string()
}

/// Returns once this delivery is known to look at the record again and again. Nobody else talks to the table.
async fn waits(stage: &Stage, second: &Invocation) -> TestResult {
    let requests = || stage.chaos.tally().passed;
    second.started().await?;
    let before = requests();
    let looks = async {
        // A request is one piece or two.
        while requests() < before + 8 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    Ok(tokio::time::timeout(LONG, looks).await?)
}

fn answer_of(answer: &Answer) -> Value {
    match answer {
        Answer::Response(text) => {
            serde_json::from_str::<Value>(text).map(|reply| reply["answer"].clone()).unwrap_or_default()
        }
        other => json!(format!("{other:?}")),
    }
}

#[tokio::test]
async fn who_waits_answers_as_the_process_that_was_at_work() -> TestResult {
    let order = order(77);
    let (stage, first, held) = stage(&order, LONG).await?;
    let second = stage.lambda.invoke(patient(&order), LONG);
    waits(&stage, &second).await?;
    held.answer();
    let (first_worker, second_worker) = (first.started().await?, second.started().await?);
    assert_ne!(first_worker.pid, second_worker.pid);
    let (first, second) = (answer_of(&first.result().await), answer_of(&second.result().await));
    assert_eq!((first["run_id"].as_str(), &second), (Some("run-1"), &first));
    let log = stage.log(&order)?;
    assert_eq!((stage.calls(&order), log.outcomes("Executed"), log.outcomes("Replayed")), (1, 1, 1));
    stage.stop().await;
    Ok(())
}

#[tokio::test]
async fn who_waits_takes_over_from_a_process_that_was_killed() -> TestResult {
    let order = order(77);
    let (stage, first, held) = stage(&order, LEASE).await?;
    let lease_end = millis_of(&stage.item(&order).await?, "in_progress_expiration")?;
    let second = stage.lambda.invoke(patient(&order), LONG);
    waits(&stage, &second).await?;
    assert_eq!(first.kill().await, Answer::Killed);
    drop(held);
    assert_eq!(answer_of(&second.result().await)["run_id"], "run-2");
    assert!(now_ms() > lease_end + MARGIN_MS, "it did not wait for the end of the lease");
    assert_eq!((stage.calls(&order), stage.log(&order)?.takeovers()), (2, 1));
    stage.stop().await;
    Ok(())
}

#[tokio::test]
async fn who_has_less_time_than_the_lease_of_a_killed_process_is_told_in_time_that_it_is_busy() -> TestResult
{
    let order = order(77);
    let (stage, first, held) = stage(&order, LONG).await?;
    assert_eq!(first.kill().await, Answer::Killed);
    drop(held);
    let deadline = Duration::from_secs(5);
    let sent = Instant::now();
    let second = deliver_unenforced(&stage, patient(&order), deadline);
    let Answer::FunctionError { error_type, .. } = second.result().await else { panic!("no error") };
    assert_eq!(error_type, "IdempotencyAlreadyInProgress");
    assert!(sent.elapsed() > deadline / 2, "it did not wait");
    assert_eq!((stage.calls(&order), stage.log(&order)?.outcomes("AlreadyInProgress")), (1, 1));
    stage.stop().await;
    Ok(())
}
