//! What each answer costs, counted at a proxy between the real AWS SDK and the table.

use std::collections::BTreeSet;
use std::io;

use lambda_idempotency::{Engine, Outcome, RunError};
use lambda_idempotency_tests::{Bench, ORDER_KEY, TestResult, Work, edited_order, name_of, order};
use loopback::Fault;
use serde_json::{Value, json};

type Answer = Result<Outcome<usize>, RunError<io::Error>>;

async fn submit(engine: &Engine, input: &Value, work: &Work) -> Answer {
    engine.run(input, |_| async { Ok::<_, io::Error>(work.run()) }).await
}

async fn fail(engine: &Engine, input: &Value, work: &Work) -> Answer {
    let work = |_| async {
        work.run();
        Err::<usize, _>(io::Error::other("the provider said no"))
    };
    engine.run(input, work).await
}

/// Holds one call inside the function, asks with `second`, and lets the first one end.
async fn while_busy(
    engine: &Engine,
    second: &Value,
    work: &Work,
) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
    let (holder, held) = (engine.clone(), work.clone());
    let first = tokio::spawn(async move {
        let call = |_| async move { Ok::<_, io::Error>(held.run_held().await) };
        holder.run(&order(), call).await.map(|_| ())
    });
    work.entered().await?;
    let answer = submit(engine, second, work).await;
    work.go_on();
    first.await??;
    Ok(answer)
}

#[tokio::test]
async fn a_first_run_is_two_calls_and_a_replay_one() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let engine = bench.engine("orders.submit", ORDER_KEY)?;

    assert_eq!(submit(&engine, &order(), &work).await?.into_value(), Some(1));
    assert_eq!(bench.proxy().operations(), ["PutItem", "UpdateItem"]);

    bench.proxy().clear();
    assert_eq!(submit(&engine, &order(), &work).await?.into_value(), Some(1));
    assert_eq!(bench.proxy().operations(), ["PutItem"]);
    assert_eq!(work.runs(), 1);
    Ok(())
}

#[tokio::test]
async fn a_busy_answer_is_one_call() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let engine = bench.engine("orders.submit", ORDER_KEY)?;

    let answer = while_busy(&engine, &order(), &work).await?;

    assert_eq!(name_of(&answer), "AlreadyInProgress");
    assert_eq!(bench.proxy().operations(), ["PutItem", "PutItem", "UpdateItem"]);
    assert_eq!(work.runs(), 1);
    Ok(())
}

#[tokio::test]
async fn a_mismatch_is_one_call_whether_the_work_is_done_or_not() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let engine = bench.engine("orders.submit", ORDER_KEY)?;

    let answer = while_busy(&engine, &edited_order(), &work).await?;
    assert_eq!(name_of(&answer), "PayloadMismatch");
    assert_eq!(bench.proxy().operations(), ["PutItem", "PutItem", "UpdateItem"]);

    bench.proxy().clear();
    assert_eq!(name_of(&submit(&engine, &edited_order(), &work).await), "PayloadMismatch");
    assert_eq!(bench.proxy().operations(), ["PutItem"]);
    assert_eq!(work.runs(), 1);
    Ok(())
}

#[tokio::test]
async fn an_event_without_the_key_is_no_call() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let engine = bench.engine("orders.submit", ORDER_KEY)?;

    for input in [json!({}), json!({"order_id": 77}), json!({"order_id": 77, "version": null}), json!(null)] {
        let answer = submit(&engine, &input, &work).await;
        assert_eq!(name_of(&answer), "MissingKey", "{input}");
    }
    assert_eq!(bench.proxy().operations(), [""; 0]);
    assert_eq!(work.runs(), 0);
    Ok(())
}

#[tokio::test]
async fn a_released_failure_is_two_calls_and_the_next_attempt_is_a_first_run() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let engine = bench.engine("orders.submit", ORDER_KEY)?;

    assert_eq!(name_of(&fail(&engine, &order(), &work).await), "FunctionFailed");
    assert_eq!(bench.proxy().operations(), ["PutItem", "DeleteItem"]);
    assert_eq!(bench.count().await?, 0);

    bench.proxy().clear();
    assert_eq!(submit(&engine, &order(), &work).await?.into_value(), Some(2));
    assert_eq!(bench.proxy().operations(), ["PutItem", "UpdateItem"]);
    Ok(())
}

/// First run, replay, mismatch, busy, busy with other content, failure, and what follows it.
async fn every_answer(bench: &Bench) -> Result<Vec<&'static str>, Box<dyn std::error::Error + Send + Sync>> {
    let (done, busy, failing) = (Work::new(), Work::new(), Work::new());
    let engine = bench.engine("orders.submit", ORDER_KEY)?;
    let other = bench.engine("orders.cancel", ORDER_KEY)?;
    let third = bench.engine("orders.ship", ORDER_KEY)?;
    let fourth = bench.engine("orders.bill", ORDER_KEY)?;
    Ok(vec![
        name_of(&submit(&engine, &order(), &done).await),
        name_of(&submit(&engine, &order(), &done).await),
        name_of(&submit(&engine, &edited_order(), &done).await),
        name_of(&while_busy(&other, &order(), &busy).await?),
        name_of(&while_busy(&third, &edited_order(), &busy).await?),
        name_of(&fail(&fourth, &order(), &failing).await),
        name_of(&submit(&fourth, &order(), &failing).await),
    ])
}

const ANSWERS: [&str; 7] = [
    "Executed",
    "Replayed",
    "PayloadMismatch",
    "AlreadyInProgress",
    "PayloadMismatch",
    "FunctionFailed",
    "Executed",
];

#[tokio::test]
async fn three_rights_suffice_where_the_service_returns_the_old_item() -> TestResult {
    let bench = Bench::dynamodb().await?;
    bench.proxy().fault_always("GetItem", Fault::error("AccessDeniedException", "not this one"));

    assert_eq!(every_answer(&bench).await?, ANSWERS);

    let used: BTreeSet<String> = bench.proxy().operations().into_iter().collect();
    assert_eq!(used, BTreeSet::from(["PutItem", "UpdateItem", "DeleteItem"].map(String::from)));
    Ok(())
}

#[tokio::test]
async fn where_the_service_returns_no_old_item_a_consistent_read_gives_the_same_answers() -> TestResult {
    let bench = Bench::dynamodb().await?;
    for operation in ["PutItem", "UpdateItem", "DeleteItem"] {
        bench.proxy().fault_always(operation, Fault::StripOldItem);
    }

    assert_eq!(every_answer(&bench).await?, ANSWERS);

    let log = bench.proxy().log();
    let reads: Vec<&Value> =
        log.iter().filter(|call| call.operation == "GetItem").map(|call| &call.body).collect();
    assert_eq!(reads.len(), 4, "one for each refused claim");
    assert!(reads.iter().all(|read| read["ConsistentRead"] == true));
    Ok(())
}
