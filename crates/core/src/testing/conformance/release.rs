//! Who can give a key back.

use super::bench::{Bench, LEASE, MARGIN, MOMENT, content, owner};
use super::{Verdict, cases, ensure};
use crate::decide::{self, Verdict as Judgement};
use crate::{ReleaseAnswer, Replaced};

cases![
    a_released_key_is_free,
    releasing_nothing_is_no_error,
    releasing_twice_is_no_error,
    somebody_elses_claim_is_not_released,
    a_successors_claim_is_not_released,
    ones_own_result_is_not_released,
    a_key_that_is_left_is_taken_over_at_once,
    a_key_that_is_left_is_refused_to_other_content,
    what_is_left_twice_is_left_once,
    an_earlier_holder_completes_what_was_left,
    somebody_elses_claim_is_not_left,
    ones_own_result_is_not_left,
];

async fn a_key_that_is_left_is_taken_over_at_once(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let answer = bench.leave(&claim.owner).await?;
    ensure!(answer == ReleaseAnswer::Released, "the release: {answer:?}");
    bench.still(&decide::left(&claim.record())).await?;
    let next = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&next, Replaced::Abandoned).await?;
    bench.still(&next.record()).await
}

async fn a_key_that_is_left_is_refused_to_other_content(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    bench.leave(&claim.owner).await?;
    let (_, judgement) = bench.loses(&bench.claim(&owner()?, content("b")?)?).await?;
    ensure!(judgement == Judgement::Mismatch, "it is judged {judgement:?}");
    Ok(())
}

async fn what_is_left_twice_is_left_once(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    bench.leave(&claim.owner).await?;
    for answer in [bench.leave(&claim.owner).await?, bench.release(&claim.owner).await?] {
        ensure!(answer == ReleaseAnswer::NotMine, "the second release: {answer:?}");
    }
    bench.still(&decide::left(&claim.record())).await
}

/// Its effect did happen, and nobody is at work.
async fn an_earlier_holder_completes_what_was_left(bench: &Bench<'_>) -> Verdict {
    let first = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&first, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let next = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&next, Replaced::Abandoned).await?;
    bench.leave(&next.owner).await?;
    let done = bench.completion(&first, "1");
    bench.records(&done).await?;
    bench.still(&done.record).await
}

async fn somebody_elses_claim_is_not_left(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let answer = bench.leave(&owner()?).await?;
    ensure!(answer == ReleaseAnswer::NotMine, "the release: {answer:?}");
    bench.still(&claim.record()).await
}

async fn ones_own_result_is_not_left(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let done = bench.completion(&claim, "1");
    bench.records(&done).await?;
    let answer = bench.leave(&claim.owner).await?;
    ensure!(answer == ReleaseAnswer::NotMine, "the release: {answer:?}");
    bench.still(&done.record).await
}

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
