//! Who can move a lease, and in which direction.

use super::bench::{Bench, LEASE, LIFE, MARGIN, MOMENT, close, content, owner};
use super::{Verdict, cases, ensure};
use crate::decide::Verdict as Judgement;
use crate::{RenewAnswer, Replaced};

cases![
    a_renewed_lease_is_not_taken_over,
    a_renewal_keeps_a_later_expiration,
    a_renewal_moves_an_earlier_expiration,
    a_renewal_never_shortens,
    a_renewal_of_nothing_is_lost,
    somebody_elses_lease_is_not_renewed,
    a_result_is_not_renewed,
    an_expired_claim_is_not_renewed,
    at_most_once_moves_its_deadline,
    at_most_once_is_not_shortened_by_a_renewal,
];

async fn a_renewed_lease_is_not_taken_over(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let longer = LEASE * 3;
    let renewal = bench.renewal(&claim, longer);
    ensure!(bench.renew(&renewal).await? == RenewAnswer::Renewed, "the renewal is lost");
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let (_, judgement) = bench.loses(&bench.claim(&owner()?, content("a")?)?).await?;
    ensure!(matches!(judgement, Judgement::Busy { .. }), "it is judged {judgement:?}");
    bench.pass(longer).await;
    bench.wins(&bench.claim(&owner()?, content("a")?)?, Replaced::Abandoned).await
}

async fn a_renewal_keeps_a_later_expiration(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let renewal = bench.renewal(&claim, LEASE * 2);
    ensure!(bench.renew(&renewal).await? == RenewAnswer::Renewed, "the renewal is lost");
    let record = bench.stands().await?.ok_or("it is gone")?;
    let (expiration, asked) = (record.expiration.start(), claim.expiration.start());
    ensure!(close(expiration, asked), "it expires at {expiration:?}, not {asked:?}");
    bench.still(&claim.record()).await
}

async fn a_renewal_moves_an_earlier_expiration(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let renewal = bench.renewal(&claim, LIFE * 2);
    ensure!(bench.renew(&renewal).await? == RenewAnswer::Renewed, "the renewal is lost");
    let record = bench.stands().await?.ok_or("it is gone")?;
    let (expiration, asked) = (record.expiration.start(), renewal.expiration.start());
    ensure!(close(expiration, asked), "it expires at {expiration:?}, not {asked:?}");
    Ok(())
}

async fn a_renewal_never_shortens(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let answer = bench.renew(&bench.renewal(&claim, LEASE / 2)).await?;
    ensure!(answer == RenewAnswer::Lost, "a shorter lease: {answer:?}");
    let lease_end = bench.stands().await?.and_then(|record| record.lease_end).ok_or("it is gone")?;
    ensure!(close(lease_end, claim.lease_end), "the lease ends at {lease_end:?}, not {:?}", claim.lease_end);
    Ok(())
}

async fn a_renewal_of_nothing_is_lost(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    let answer = bench.renew(&bench.renewal(&claim, LEASE)).await?;
    ensure!(answer == RenewAnswer::Lost, "the renewal: {answer:?}");
    ensure!(bench.stands().await?.is_none(), "the renewal made a record");
    Ok(())
}

async fn somebody_elses_lease_is_not_renewed(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let mut renewal = bench.renewal(&claim, LEASE * 2);
    renewal.owner = owner()?;
    let answer = bench.renew(&renewal).await?;
    ensure!(answer == RenewAnswer::Lost, "the renewal: {answer:?}");
    let lease_end = bench.stands().await?.and_then(|record| record.lease_end).ok_or("it is gone")?;
    ensure!(close(lease_end, claim.lease_end), "the lease ends at {lease_end:?}, not {:?}", claim.lease_end);
    Ok(())
}

async fn a_result_is_not_renewed(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let done = bench.completion(&claim, "1");
    bench.records(&done).await?;
    let answer = bench.renew(&bench.renewal(&claim, LIFE * 2)).await?;
    ensure!(answer == RenewAnswer::Lost, "the renewal: {answer:?}");
    let expiration = bench.stands().await?.ok_or("it is gone")?.expiration.start();
    ensure!(close(expiration, done.record.expiration.start()), "it expires at {expiration:?}");
    bench.still(&done.record).await
}

async fn an_expired_claim_is_not_renewed(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    bench.pass(LIFE + MOMENT).await;
    let answer = bench.renew(&bench.renewal(&claim, LIFE)).await?;
    ensure!(answer == RenewAnswer::Lost, "the renewal: {answer:?}");
    ensure!(bench.stands().await?.is_none(), "the renewal brought the record back");
    Ok(())
}

async fn at_most_once_moves_its_deadline(bench: &Bench<'_>) -> Verdict {
    let mut claim = bench.claim(&owner()?, content("a")?)?;
    claim.deadline = Some(claim.lease_end);
    claim.lease_end = claim.expiration.end();
    bench.wins(&claim, Replaced::Nothing).await?;
    let mut renewal = bench.renewal(&claim, LEASE * 2);
    let deadline = renewal.lease_end;
    renewal.deadline = Some(deadline);
    renewal.lease_end = claim.lease_end;
    ensure!(bench.renew(&renewal).await? == RenewAnswer::Renewed, "the renewal is lost");
    let stored = bench.stands().await?.and_then(|record| record.deadline).ok_or("it has no deadline")?;
    ensure!(close(stored, deadline), "the deadline is {stored:?}, not {deadline:?}");
    bench.still(&claim.record()).await
}

async fn at_most_once_is_not_shortened_by_a_renewal(bench: &Bench<'_>) -> Verdict {
    let mut claim = bench.claim(&owner()?, content("a")?)?;
    claim.deadline = Some(claim.lease_end);
    claim.lease_end = claim.expiration.end();
    bench.wins(&claim, Replaced::Nothing).await?;
    // Asks for an `expiration`, and with it a lease, that ends before the claim's.
    let mut renewal = bench.renewal(&claim, LEASE * 2);
    renewal.deadline = Some(renewal.lease_end);
    renewal.lease_end = renewal.expiration.end();
    ensure!(bench.renew(&renewal).await? == RenewAnswer::Renewed, "the renewal is lost");
    bench.pass(LEASE * 2 + MARGIN * 2 + MOMENT).await;
    let (_, judgement) = bench.loses(&bench.claim(&owner()?, content("a")?)?).await?;
    ensure!(judgement == Judgement::Interrupted, "it is judged {judgement:?}");
    Ok(())
}
