//! Who can give a key back.

use super::bench::{Bench, LEASE, MARGIN, MOMENT, content, owner};
use super::{Verdict, cases, ensure};
use crate::{ReleaseAnswer, Replaced};

cases![
    a_released_key_is_free,
    releasing_nothing_is_no_error,
    releasing_twice_is_no_error,
    somebody_elses_claim_is_not_released,
    a_successors_claim_is_not_released,
    ones_own_result_is_not_released,
];

async fn a_released_key_is_free(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let answer = bench.release(&claim.owner).await?;
    ensure!(answer == ReleaseAnswer::Released, "the release: {answer:?}");
    ensure!(bench.stands().await?.is_none(), "the record is still there");
    // The next one may even have other content: no work was done.
    bench.wins(&bench.claim(&owner()?, content("b")?)?, Replaced::Nothing).await
}

async fn releasing_nothing_is_no_error(bench: &Bench<'_>) -> Verdict {
    let answer = bench.release(&owner()?).await?;
    ensure!(answer == ReleaseAnswer::NotMine, "the release: {answer:?}");
    Ok(())
}

async fn releasing_twice_is_no_error(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    bench.release(&claim.owner).await?;
    let answer = bench.release(&claim.owner).await?;
    ensure!(answer == ReleaseAnswer::NotMine, "the second release: {answer:?}");
    Ok(())
}

async fn somebody_elses_claim_is_not_released(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let answer = bench.release(&owner()?).await?;
    ensure!(answer == ReleaseAnswer::NotMine, "the release: {answer:?}");
    bench.still(&claim.record()).await
}

async fn a_successors_claim_is_not_released(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let next = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&next, Replaced::Abandoned).await?;
    let answer = bench.release(&claim.owner).await?;
    ensure!(answer == ReleaseAnswer::NotMine, "the release: {answer:?}");
    bench.still(&next.record()).await
}

async fn ones_own_result_is_not_released(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let done = bench.completion(&claim, "1");
    bench.records(&done).await?;
    let answer = bench.release(&claim.owner).await?;
    ensure!(answer == ReleaseAnswer::NotMine, "the release: {answer:?}");
    bench.still(&done.record).await
}
