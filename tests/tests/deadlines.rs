//! What a deadline does: the true ones, the passed ones, and what is no instant at all.

use std::time::Duration;

use lambda_idempotency::decide::Deadline;
use lambda_idempotency::{EpochMillis, Error, Invocation, idempotent};
use lambda_idempotency_tests::{Bench, NOW, TestResult, Work, on_both_stores};

#[derive(Debug, thiserror::Error)]
enum JobError {
    #[error("not done")]
    Idempotency(#[from] Error),
    #[error("the test itself failed: {0}")]
    Test(Box<dyn std::error::Error + Send + Sync>),
}

#[idempotent(key = "@", input = job, name = "jobs")]
async fn run_held(job: u32, work: &Work) -> Result<(), JobError> {
    work.run_held().await;
    Ok(())
}

on_both_stores!(
    a_deadline_that_has_passed_is_refused_before_the_claim,
    the_lease_ends_with_the_deadline,
    a_deadline_that_is_no_instant_holds_for_a_quarter_of_an_hour,
    a_deadline_far_ahead_counts_as_a_quarter_of_an_hour,
);

/// Calls with this deadline; when another caller may come back while it runs.
async fn with_deadline(bench: &Bench, job: u32, millis: u64) -> Result<Option<EpochMillis>, JobError> {
    let test = |error: Box<dyn std::error::Error + Send + Sync>| JobError::Test(error);
    let work = Work::new();
    let inside = work.clone();
    let invocation = Invocation::new(Deadline::from_epoch_millis(millis));
    let held = async move { run_held(job, &inside).await };
    let mut held = tokio::spawn(bench.run(invocation.scope(held)));
    tokio::select! {
        refused = &mut held => {
            refused.map_err(|error| test(error.into()))??;
            return Err(test("it was not held".into()));
        }
        entered = work.entered() => entered.map_err(|error| test(error.into()))?,
    }
    let retry_at = match bench.run(async { run_held(job, &Work::new()).await }).await {
        Err(JobError::Idempotency(error)) => error.retry_at(),
        _ => None,
    };
    work.go_on();
    held.await.map_err(|error| test(error.into()))??;
    Ok(retry_at)
}

fn now_ms() -> u64 {
    u64::try_from(NOW.get()).unwrap_or_default()
}

/// When a caller may come back to a claim whose lease ends this long after now.
fn after_lease_of(seconds: u64) -> Option<EpochMillis> {
    let margin = Duration::from_secs(2);
    Some(NOW.plus(Duration::from_secs(seconds) + margin + Duration::from_millis(1)))
}

async fn a_deadline_that_has_passed_is_refused_before_the_claim(bench: Bench) -> TestResult {
    for (job, deadline) in [(1, now_ms() - 3_600_000), (2, now_ms() - 1), (3, now_ms())] {
        match with_deadline(&bench, job, deadline).await {
            Err(JobError::Idempotency(error)) => {
                assert_eq!(error.name(), "DeadlinePassed", "{deadline}");
                assert!(error.is_retryable());
            }
            other => panic!("{deadline}: {other:?}"),
        }
    }
    assert_eq!(bench.count().await?, 0);
    Ok(())
}

async fn the_lease_ends_with_the_deadline(bench: Bench) -> TestResult {
    for (job, seconds) in [(1, 20), (2, 899), (3, 900)] {
        let answer = with_deadline(&bench, job, now_ms() + seconds * 1000).await?;
        assert_eq!(answer, after_lease_of(seconds));
    }
    Ok(())
}

async fn a_deadline_that_is_no_instant_holds_for_a_quarter_of_an_hour(bench: Bench) -> TestResult {
    // What a context says outside of Lambda, and the constant of a local tool.
    for (job, deadline) in [(1, 0), (2, 1), (3, 600_000), (4, 999_999_999_999)] {
        assert_eq!(with_deadline(&bench, job, deadline).await?, after_lease_of(900), "{deadline}");
    }
    Ok(())
}

async fn a_deadline_far_ahead_counts_as_a_quarter_of_an_hour(bench: Bench) -> TestResult {
    let ten_years = 10 * 365 * 24 * 3_600_000;
    for (job, deadline) in [(1, now_ms() + 900_001), (2, now_ms() + ten_years), (3, u64::MAX)] {
        assert_eq!(with_deadline(&bench, job, deadline).await?, after_lease_of(900), "{deadline}");
    }
    Ok(())
}
