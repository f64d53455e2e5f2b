//! How long a claim holds, who may take it over, and what becomes of the one who was overtaken.

use std::time::Duration;

use lambda_idempotency::decide::Deadline;
use lambda_idempotency::{Attempt, Error, Invocation, idempotent};
use lambda_idempotency_tests::{Bench, JobError, NOW, TestResult, Work, on_both_stores};
use serde::Serialize;
use tokio::task::JoinHandle;

#[derive(Debug, Clone, Copy, Serialize)]
struct Job {
    id: u32,
    content: u32,
}

const JOB: Job = Job { id: 1, content: 1 };
const SECOND: Duration = Duration::from_secs(1);

/// Answers who ran it, and whether as a takeover.
#[idempotent(key = "id", input = job, expires_after = "1m", name = "jobs")]
async fn run(job: Job, work: &Work, who: &str) -> Result<String, JobError> {
    work.run();
    let takeover = Attempt::current().is_some_and(|attempt| attempt.is_takeover());
    Ok(format!("{who}{}", if takeover { ", takeover" } else { "" }))
}

#[idempotent(key = "id", input = job, expires_after = "1m", name = "jobs")]
async fn run_held(job: Job, work: &Work, who: &str, fails: bool) -> Result<String, JobError> {
    work.run_held().await;
    if fails { Err(JobError::Failed) } else { Ok(who.to_owned()) }
}

/// The same work as `jobs`, but its content is not looked at.
#[idempotent(key = "id", input = job, fingerprint = "none", expires_after = "1m", name = "jobs")]
async fn run_unchecked(job: Job, who: &str) -> Result<String, JobError> {
    Ok(who.to_owned())
}

fn name(answer: &Result<String, JobError>) -> &str {
    match answer {
        Ok(who) => who,
        Err(JobError::Idempotency(error)) => error.name(),
        Err(JobError::Failed) => "Failed",
    }
}

fn until(deadline: Duration) -> Invocation {
    Invocation::new(Deadline::At(NOW.plus(deadline)))
}

type Held = (JoinHandle<Result<String, JobError>>, Work);

/// A call that stands inside the function.
async fn held(
    bench: &Bench,
    invocation: Invocation,
    who: &'static str,
    fails: bool,
) -> Result<Held, tokio::time::error::Elapsed> {
    let work = Work::new();
    let inside = work.clone();
    let call = async move { run_held(JOB, &inside, who, fails).await };
    let call = tokio::spawn(bench.run(invocation.scope(call)));
    work.entered().await?;
    Ok((call, work))
}

/// The first holder, with 10 seconds until its deadline.
async fn holder(bench: &Bench, fails: bool) -> Result<Held, tokio::time::error::Elapsed> {
    held(bench, until(10 * SECOND), "the holder", fails).await
}

/// One that took over and stands inside the function as well.
async fn successor(bench: &Bench, fails: bool) -> Result<Held, tokio::time::error::Elapsed> {
    held(bench, Invocation::default(), "the successor", fails).await
}

async fn call(bench: &Bench, job: Job, who: &str) -> Result<String, JobError> {
    bench.run(async { run(job, &Work::new(), who).await }).await
}

on_both_stores!(
    an_abandoned_claim_is_taken_over_after_lease_and_margin_and_not_a_millisecond_before,
    other_content_never_takes_over_an_abandoned_claim,
    a_claim_outlives_an_expires_after_that_is_shorter_than_the_run,
    a_holder_whose_successor_is_at_work_has_lost_its_lease,
    a_holder_whose_successor_is_done_with_the_same_content_gets_its_answer,
    a_holder_whose_successor_had_other_content_gets_nothing_of_it,
    a_holder_whose_successor_cannot_be_compared_gets_nothing_of_it,
    a_holder_whose_successor_gave_up_records_its_own_result,
    a_holder_that_fails_late_does_not_release_its_successor,
    after_a_takeover_that_failed_the_next_attempt_is_one_too,
);

async fn an_abandoned_claim_is_taken_over_after_lease_and_margin_and_not_a_millisecond_before(
    bench: Bench,
) -> TestResult {
    let (call_of_the_dead, _) = holder(&bench, false).await?;
    call_of_the_dead.abort();
    assert!(call_of_the_dead.await.is_err(), "its future was dropped");

    let busy = call(&bench, JOB, "early").await;
    let Err(JobError::Idempotency(Error::AlreadyInProgress { retry_at, .. })) = busy else {
        panic!("{busy:?}")
    };
    assert_eq!(retry_at, NOW.plus(10 * SECOND + 2 * SECOND + Duration::from_millis(1)));

    bench.clock.set(retry_at.minus(Duration::from_millis(1)));
    assert_eq!(name(&call(&bench, JOB, "a millisecond early").await), "AlreadyInProgress");
    bench.clock.set(retry_at);
    assert_eq!(call(&bench, JOB, "in time").await?, "in time, takeover");
    assert_eq!(call(&bench, JOB, "late").await?, "in time, takeover");
    Ok(())
}

/// The first one died, and nobody knows how far it came: neither after one failure nor after two.
async fn after_a_takeover_that_failed_the_next_attempt_is_one_too(bench: Bench) -> TestResult {
    let (dead, _) = holder(&bench, false).await?;
    dead.abort();
    bench.clock.advance(13 * SECOND);
    for _ in 0..2 {
        let (failing, work) = successor(&bench, true).await?;
        work.go_on();
        assert_eq!(name(&failing.await?), "Failed");
        // At once, without a lease to wait for; and still not with other content.
        let edited = Job { content: 2, ..JOB };
        assert_eq!(name(&call(&bench, edited, "edited").await), "PayloadMismatch");
    }
    assert_eq!(call(&bench, JOB, "third").await?, "third, takeover");
    assert_eq!(call(&bench, JOB, "fourth").await?, "third, takeover");
    Ok(())
}

async fn other_content_never_takes_over_an_abandoned_claim(bench: Bench) -> TestResult {
    let (dead, _) = holder(&bench, false).await?;
    dead.abort();
    bench.clock.advance(13 * SECOND);
    let edited = Job { content: 2, ..JOB };
    assert_eq!(name(&call(&bench, edited, "edited").await), "PayloadMismatch");
    assert_eq!(call(&bench, JOB, "same").await?, "same, takeover");
    Ok(())
}

async fn a_claim_outlives_an_expires_after_that_is_shorter_than_the_run(bench: Bench) -> TestResult {
    #[idempotent(key = "id", input = job, expires_after = "1s", name = "short")]
    async fn short(job: Job, work: &Work, held: bool) -> Result<String, JobError> {
        if held {
            work.run_held().await
        } else {
            work.run()
        };
        Ok("done".to_owned())
    }
    let work = Work::new();
    let inside = work.clone();
    let first = async move { short(JOB, &inside, true).await };
    let first = tokio::spawn(bench.run(until(600 * SECOND).scope(first)));
    work.entered().await?;

    bench.clock.advance(599 * SECOND);
    let second = bench.run(short(JOB, &work, false)).await;
    assert_eq!(name(&second), "AlreadyInProgress");
    work.go_on();
    first.await??;
    bench.clock.advance(SECOND);
    bench.run(short(JOB, &work, false)).await?;
    assert_eq!(work.runs(), 1);
    // And to the end of the second that was rounded up to.
    bench.clock.advance(2 * SECOND);
    bench.run(short(JOB, &work, false)).await?;
    assert_eq!(work.runs(), 2, "the record is gone");
    Ok(())
}

async fn a_holder_whose_successor_is_at_work_has_lost_its_lease(bench: Bench) -> TestResult {
    let (first, first_work) = holder(&bench, false).await?;
    bench.clock.advance(13 * SECOND);
    let (second, second_work) = successor(&bench, false).await?;

    first_work.go_on();
    let lost = first.await?;
    assert_eq!(name(&lost), "LeaseLost");
    assert!(matches!(lost, Err(JobError::Idempotency(error)) if error.is_retryable()));
    assert_eq!(name(&call(&bench, JOB, "third").await), "AlreadyInProgress");

    second_work.go_on();
    assert_eq!(second.await??, "the successor");
    assert_eq!(call(&bench, JOB, "third").await?, "the successor");
    Ok(())
}

async fn a_holder_whose_successor_is_done_with_the_same_content_gets_its_answer(bench: Bench) -> TestResult {
    let (first, work) = holder(&bench, false).await?;
    bench.clock.advance(13 * SECOND);
    assert_eq!(call(&bench, JOB, "the successor").await?, "the successor, takeover");

    work.go_on();
    assert_eq!(first.await??, "the successor, takeover");
    assert_eq!(call(&bench, JOB, "third").await?, "the successor, takeover");
    Ok(())
}

async fn a_holder_whose_successor_had_other_content_gets_nothing_of_it(bench: Bench) -> TestResult {
    let (first, work) = holder(&bench, false).await?;
    // The claim itself expires: one minute, more than lease and margin.
    bench.clock.advance(62 * SECOND);
    let edited = Job { content: 2, ..JOB };
    assert_eq!(call(&bench, edited, "the successor").await?, "the successor");

    work.go_on();
    assert_eq!(name(&first.await?), "LeaseLost");
    assert_eq!(call(&bench, edited, "third").await?, "the successor");
    Ok(())
}

async fn a_holder_whose_successor_cannot_be_compared_gets_nothing_of_it(bench: Bench) -> TestResult {
    let (first, work) = holder(&bench, false).await?;
    bench.clock.advance(13 * SECOND);
    assert_eq!(bench.run(run_unchecked(JOB, "the successor")).await?, "the successor");

    work.go_on();
    assert_eq!(name(&first.await?), "LeaseLost");
    assert_eq!(call(&bench, JOB, "third").await?, "the successor");
    Ok(())
}

async fn a_holder_whose_successor_gave_up_records_its_own_result(bench: Bench) -> TestResult {
    let (first, first_work) = holder(&bench, false).await?;
    bench.clock.advance(13 * SECOND);
    let (second, second_work) = successor(&bench, true).await?;
    second_work.go_on();
    assert_eq!(name(&second.await?), "Failed");

    first_work.go_on();
    assert_eq!(first.await??, "the holder");
    assert_eq!(call(&bench, JOB, "third").await?, "the holder");
    Ok(())
}

async fn a_holder_that_fails_late_does_not_release_its_successor(bench: Bench) -> TestResult {
    let (first, first_work) = holder(&bench, true).await?;
    bench.clock.advance(13 * SECOND);
    let (second, second_work) = successor(&bench, false).await?;

    first_work.go_on();
    assert_eq!(name(&first.await?), "Failed", "its own error, and nothing else");
    assert_eq!(name(&call(&bench, JOB, "third").await), "AlreadyInProgress");
    second_work.go_on();
    assert_eq!(second.await??, "the successor");
    Ok(())
}
