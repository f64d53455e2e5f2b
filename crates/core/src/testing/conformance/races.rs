//! Many at once: exactly one wins.

use futures_util::future::join_all;

use super::bench::{Bench, LEASE, LIFE, MARGIN, MOMENT, content, owner};
use super::{Verdict, cases, ensure};
use crate::{ClaimAnswer, ClaimRequest, Replaced, Status};

/// How many claim at once.
const MANY: usize = 32;

cases![
    one_of_many_claims_wins,
    one_of_many_takeovers_wins,
    one_of_many_wins_an_expired_record,
    a_completion_and_takeovers_agree,
];

async fn one_of_many_claims_wins(bench: &Bench<'_>) -> Verdict {
    one_wins(bench).await
}

async fn one_of_many_takeovers_wins(bench: &Bench<'_>) -> Verdict {
    bench.wins(&bench.claim(&owner()?, content("a")?)?, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    one_wins(bench).await
}

async fn one_of_many_wins_an_expired_record(bench: &Bench<'_>) -> Verdict {
    bench.wins(&bench.claim(&owner()?, content("b")?)?, Replaced::Nothing).await?;
    bench.pass(LIFE + MOMENT).await;
    one_wins(bench).await
}

/// A holder finishes at the very moment at which others take over: either its result stands and they
/// are refused, or one of them holds the record and it is refused.
async fn a_completion_and_takeovers_agree(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let done = bench.completion(&claim, "1");
    let claims = many(bench)?;
    let (answers, overtaken) = futures_util::future::join(
        join_all(claims.iter().map(|one| bench.try_claim(one))),
        bench.complete(&done),
    )
    .await;
    let overtaken = overtaken?.is_some();
    let winners = count_winners(answers)?;
    let record = bench.stands().await?.ok_or("it is gone")?;
    match (winners, overtaken) {
        (0, false) => {
            ensure!(record.status == Status::Completed, "the recorded result is {:?}", record.status)
        }
        (1, true) => {
            ensure!(record.status == Status::InProgress, "the successor's claim is {:?}", record.status)
        }
        (winners, overtaken) => {
            return Err(format!("{winners} took over, and the holder's refusal is {overtaken}"));
        }
    }
    Ok(())
}

async fn one_wins(bench: &Bench<'_>) -> Verdict {
    let claims = many(bench)?;
    let winners = count_winners(join_all(claims.iter().map(|one| bench.try_claim(one))).await)?;
    ensure!(winners == 1, "{winners} of {MANY} claims won");
    let holder = bench.stands().await?.and_then(|record| record.owner).ok_or("nobody holds the record")?;
    ensure!(claims.iter().any(|one| one.owner == holder), "a stranger holds the record");
    Ok(())
}

fn many(bench: &Bench<'_>) -> Result<Vec<ClaimRequest>, String> {
    (0..MANY).map(|_| bench.claim(&owner()?, content("a")?)).collect()
}

fn count_winners(answers: Vec<Result<ClaimAnswer, String>>) -> Result<usize, String> {
    let mut winners = 0;
    for answer in answers {
        winners += usize::from(matches!(answer?, ClaimAnswer::Claimed(_)));
    }
    Ok(winners)
}
