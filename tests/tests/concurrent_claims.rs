//! Many at the same moment: one works, nobody gets an error that is not an answer.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use lambda_idempotency::Engine;
use lambda_idempotency_tests::{Bench, ORDER_KEY, PATIENCE, TestResult, Work, name_of};
use serde_json::{Value, json};
use tokio::sync::Barrier;

const CALLERS: usize = 64;
const ROUNDS: u64 = 4;
const NAME: &str = "orders.submit";

fn input(order_id: u64) -> Value {
    json!({"order_id": order_id, "version": 1})
}

/// How a caller was answered: the name of the outcome or of the error.
async fn call(engine: &Engine, order_id: u64, work: &Work, held: bool) -> &'static str {
    let run = |_| async { Ok::<_, io::Error>(if held { work.run_held().await } else { work.run() }) };
    name_of(&engine.run(&input(order_id), run).await)
}

/// Calls from 64 engines that start together; how often each answer was given.
///
/// With `held`, the one that works stands still until all the others have been answered.
async fn stampede(
    bench: &Bench,
    order_id: u64,
    work: &Work,
    held: bool,
) -> Result<HashMap<&'static str, usize>, Box<dyn std::error::Error + Send + Sync>> {
    let start = Arc::new(Barrier::new(CALLERS));
    let answered = Arc::new(tokio::sync::Semaphore::new(0));
    let mut callers = Vec::new();
    for _ in 0..CALLERS {
        let engine = bench.engine_of_another_process(NAME, ORDER_KEY)?;
        let (start, work, answered) = (Arc::clone(&start), work.clone(), Arc::clone(&answered));
        callers.push(tokio::spawn(async move {
            start.wait().await;
            let answer = call(&engine, order_id, &work, held).await;
            answered.add_permits(1);
            answer
        }));
    }
    if held {
        let others = u32::try_from(CALLERS - 1)?;
        tokio::time::timeout(PATIENCE, answered.acquire_many(others)).await??.forget();
        work.go_on();
    }
    let mut answers = HashMap::new();
    for answer in try_join_all(callers).await? {
        *answers.entry(answer).or_default() += 1;
    }
    Ok(answers)
}

async fn while_one_works_all_others_are_told_so(bench: &Bench) -> TestResult {
    for order_id in 0..ROUNDS {
        let work = Work::new();
        let answers = stampede(bench, order_id, &work, true).await?;
        assert_eq!(answers, HashMap::from([("Executed", 1), ("AlreadyInProgress", CALLERS - 1)]));
        assert_eq!(work.runs(), 1);
    }
    Ok(())
}

async fn one_works_and_everybody_else_gets_its_answer_or_is_told_to_wait(bench: &Bench) -> TestResult {
    for order_id in 0..ROUNDS {
        let work = Work::new();
        let mut answers = stampede(bench, order_id, &work, false).await?;
        assert_eq!(answers.remove("Executed"), Some(1));
        assert_eq!(work.runs(), 1);
        let replayed = answers.remove("Replayed").unwrap_or_default();
        let busy = answers.remove("AlreadyInProgress").unwrap_or_default();
        assert_eq!((replayed + busy, answers), (CALLERS - 1, HashMap::new()));

        // And whoever comes later gets the answer.
        assert_eq!(call(&bench.engine(NAME, ORDER_KEY)?, order_id, &work, false).await, "Replayed");
        assert_eq!(work.runs(), 1);
    }
    Ok(())
}

/// A claim whose holder is gone, and a record that has expired: both can be claimed by one only.
async fn of_all_who_want_to_take_over_one_does(bench: &Bench) -> TestResult {
    let engine = bench.engine(NAME, ORDER_KEY)?;
    for order_id in 0..ROUNDS {
        let (work, abandoned) = (Work::new(), Work::new());
        let (holder, inside) = (engine.clone(), abandoned.clone());
        let task = tokio::spawn(async move { call(&holder, order_id, &inside, true).await });
        abandoned.entered().await?;
        task.abort();
        bench.clock.advance(Duration::from_secs(903));

        let answers = stampede(bench, order_id, &work, true).await?;
        assert_eq!(answers, HashMap::from([("Executed", 1), ("AlreadyInProgress", CALLERS - 1)]));
        assert_eq!(work.runs(), 1);

        bench.clock.advance(Duration::from_secs(2 * 24 * 3600));
        let again = stampede(bench, order_id, &work, true).await?;
        assert_eq!(again, HashMap::from([("Executed", 1), ("AlreadyInProgress", CALLERS - 1)]));
        assert_eq!(work.runs(), 2);
    }
    Ok(())
}

mod in_memory {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn while_one_works_all_others_are_told_so() -> TestResult {
        super::while_one_works_all_others_are_told_so(&Bench::memory()).await
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn one_works_and_everybody_else_gets_its_answer_or_is_told_to_wait() -> TestResult {
        super::one_works_and_everybody_else_gets_its_answer_or_is_told_to_wait(&Bench::memory()).await
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn of_all_who_want_to_take_over_one_does() -> TestResult {
        super::of_all_who_want_to_take_over_one_does(&Bench::memory()).await
    }
}

mod in_dynamodb {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn while_one_works_all_others_are_told_so() -> TestResult {
        super::while_one_works_all_others_are_told_so(&Bench::dynamodb().await?).await
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn one_works_and_everybody_else_gets_its_answer_or_is_told_to_wait() -> TestResult {
        super::one_works_and_everybody_else_gets_its_answer_or_is_told_to_wait(&Bench::dynamodb().await?)
            .await
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn of_all_who_want_to_take_over_one_does() -> TestResult {
        super::of_all_who_want_to_take_over_one_does(&Bench::dynamodb().await?).await
    }
}
