//! A write that was applied although its reply was lost: the retry meets its own work and knows it.

use std::io;

use lambda_idempotency::{DynamoDbStore, Engine, Key, Outcome, RunError};
use lambda_idempotency_tests::{Bench, ORDER_KEY, TABLE, TestResult, Work, name_of, order};
use loopback::Fault;

const NAME: &str = "orders.submit";

type Answer = Result<Outcome<usize>, RunError<io::Error>>;

async fn submit(engine: &Engine, work: &Work) -> Answer {
    engine.run(&order(), |_| async { Ok::<_, io::Error>(work.run()) }).await
}

/// An engine whose client gives up at the first lost reply.
fn without_retries(bench: &Bench) -> Result<Engine, Box<dyn std::error::Error + Send + Sync>> {
    let client = loopback::dynamo::client_for(&bench.proxy().endpoint());
    let engine = Engine::new(NAME, DynamoDbStore::new(client, TABLE), Key::parse(ORDER_KEY)?)?;
    Ok(engine.clock(bench.clock.clone()))
}

#[tokio::test]
async fn a_claim_whose_reply_was_lost_is_not_blocked_by_itself() -> TestResult {
    for old_item_is_returned in [true, false] {
        let (bench, work) = (Bench::dynamodb().await?, Work::new());
        let engine = bench.engine(NAME, ORDER_KEY)?;
        bench.proxy().fault_next("PutItem", Fault::DropReplyAfterApply);
        if !old_item_is_returned {
            bench.proxy().fault_always("PutItem", Fault::StripOldItem);
        }

        assert_eq!(submit(&engine, &work).await?, Outcome::Executed(1));
        let operations = bench.proxy().operations();
        match old_item_is_returned {
            true => assert_eq!(operations, ["PutItem", "PutItem", "UpdateItem"]),
            false => assert_eq!(operations, ["PutItem", "PutItem", "GetItem", "UpdateItem"]),
        }
        assert_eq!(name_of(&submit(&engine, &work).await), "Replayed");
        assert_eq!(work.runs(), 1);
    }
    Ok(())
}

#[tokio::test]
async fn each_resend_of_a_claim_carries_the_same_owner() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let engine = bench.engine(NAME, ORDER_KEY)?;
    bench.proxy().fault_times("PutItem", 2, Fault::DropReplyAfterApply);
    assert_eq!(name_of(&submit(&engine, &work).await), "Executed");

    let log = bench.proxy().log();
    let claims: Vec<_> = log.iter().filter(|call| call.operation == "PutItem").collect();
    assert_eq!(claims.len(), 3);
    assert!(claims.iter().all(|claim| claim.body == claims[0].body));
    Ok(())
}

#[tokio::test]
async fn a_function_is_told_that_an_earlier_attempt_may_have_been_replaced_when_the_reply_was_lost()
-> TestResult {
    let bench = Bench::dynamodb().await?;
    let engine = bench.engine(NAME, ORDER_KEY)?;
    bench.proxy().fault_next("PutItem", Fault::DropReplyAfterApply);
    let answer =
        engine.run(&order(), |attempt| async move { Ok::<_, io::Error>(attempt.is_takeover()) }).await;
    assert_eq!(answer?, Outcome::Executed(true));
    Ok(())
}

#[tokio::test]
async fn a_completion_whose_reply_was_lost_is_recorded_once() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    for engine in [bench.engine("by-the-client", ORDER_KEY)?, without_retries(&bench)?] {
        bench.proxy().clear();
        bench.proxy().fault_next("UpdateItem", Fault::DropReplyAfterApply);
        let first = submit(&engine, &work).await?;
        assert_eq!(first.name(), "Executed");
        assert_eq!(bench.proxy().operations(), ["PutItem", "UpdateItem", "UpdateItem"]);
        let log = bench.proxy().log();
        assert_eq!(log[1].body, log[2].body, "the very same completion");

        let second = submit(&engine, &work).await?;
        assert!(second.is_replayed());
        assert_eq!(second.into_value(), first.into_value());
    }
    assert_eq!(work.runs(), 2);
    Ok(())
}

#[tokio::test]
async fn a_release_whose_reply_was_lost_gives_the_key_back_and_hides_no_error() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let engine = bench.engine(NAME, ORDER_KEY)?;
    for engine in [engine.clone(), without_retries(&bench)?] {
        bench.proxy().fault_next("DeleteItem", Fault::DropReplyAfterApply);
        let failing = |_| async { Err::<usize, _>(io::Error::other("the provider said no")) };
        match engine.run(&order(), failing).await {
            Err(RunError::Function(error)) => assert_eq!(error.to_string(), "the provider said no"),
            other => panic!("{other:?}"),
        }
        assert_eq!(bench.count().await?, 0);
    }
    assert_eq!(name_of(&submit(&engine, &work).await), "Executed");
    Ok(())
}

#[tokio::test]
async fn a_late_resend_of_a_release_does_not_delete_the_next_claim() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let engine = bench.engine(NAME, ORDER_KEY)?;
    // The first release is applied, its reply is lost, and its resend stands still.
    bench.proxy().fault_next("DeleteItem", Fault::DropReplyAfterApply);
    let resend = bench.proxy().hold_next("DeleteItem");
    let (failing, same) = (engine.clone(), order());
    let failed = tokio::spawn(async move {
        let run = |_| async { Err::<usize, _>(io::Error::other("the provider said no")) };
        failing.run(&same, run).await.map(|_| ())
    });
    resend.arrived().await?;

    let (holder, inside) = (engine.clone(), work.clone());
    let next = tokio::spawn(async move {
        let run = |_| async move { Ok::<_, io::Error>(inside.run_held().await) };
        holder.run(&order(), run).await
    });
    work.entered().await?;
    resend.answer();
    assert!(matches!(failed.await?, Err(RunError::Function(_))));
    assert_eq!(name_of(&submit(&engine, &work).await), "AlreadyInProgress");

    work.go_on();
    assert_eq!(next.await??, Outcome::Executed(1));
    assert_eq!(work.runs(), 1);
    Ok(())
}

#[tokio::test]
async fn a_claim_that_was_never_applied_is_sent_again() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let engine = bench.engine(NAME, ORDER_KEY)?;
    // As a connection that died while the environment was frozen.
    bench.proxy().fault_next("PutItem", Fault::DropBefore);
    assert_eq!(submit(&engine, &work).await?, Outcome::Executed(1));
    Ok(())
}

#[tokio::test]
async fn without_retries_a_lost_claim_is_sent_once_more_and_runs_once() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let engine = without_retries(&bench)?;
    bench.proxy().fault_next("PutItem", Fault::DropReplyAfterApply);
    assert_eq!(submit(&engine, &work).await?, Outcome::Executed(1));
    assert_eq!(name_of(&submit(&engine, &work).await), "Replayed");
    Ok(())
}

#[tokio::test]
async fn a_claim_that_is_never_answered_runs_nothing_and_is_given_back() -> TestResult {
    let (bench, work) = (Bench::dynamodb().await?, Work::new());
    let engine = without_retries(&bench)?;
    bench.proxy().fault_times("PutItem", 2, Fault::DropReplyAfterApply);
    assert_eq!(name_of(&submit(&engine, &work).await), "Store");
    assert_eq!(work.runs(), 0);
    assert_eq!(submit(&engine, &work).await?, Outcome::Executed(1));
    Ok(())
}
