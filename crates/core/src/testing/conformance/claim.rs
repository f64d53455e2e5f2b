//! Who wins a record, and what the loser is shown.

use super::bench::{Bench, LEASE, LIFE, MARGIN, MOMENT, bare_hash, close, content, other_rule, owner};
use super::{Verdict, cases, ensure};
use crate::decide::Verdict as Judgement;
use crate::{Replaced, Status};

cases![
    an_absent_record_is_claimed_whole,
    a_held_record_refuses_and_shows_itself,
    ones_own_claim_is_recognised,
    other_content_is_refused_while_held,
    within_the_margin_nobody_takes_over,
    an_abandoned_claim_is_taken_over_whole,
    an_abandoned_claim_of_other_content_is_refused,
    an_abandoned_claim_of_another_rule_is_taken_over,
    an_abandoned_claim_of_the_same_bare_hash_is_taken_over,
    an_abandoned_claim_of_another_bare_hash_is_refused,
    a_bare_hash_and_a_rule_do_not_compare,
    an_abandoned_claim_without_fingerprint_is_taken_over,
    a_claim_without_fingerprint_takes_over,
    a_completed_record_outlives_its_lease,
    a_completed_record_of_other_content_is_a_mismatch,
    a_failed_record_is_a_stored_failure,
    an_expired_result_is_claimed_anew,
    an_expired_claim_of_other_content_is_claimed_anew,
    at_most_once_is_never_taken_over,
    at_most_once_expires,
    two_records_do_not_touch,
];

async fn an_absent_record_is_claimed_whole(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    bench.still(&claim.record()).await?;
    let record = bench.stands().await?.ok_or("it is gone")?;
    let lease_end = record.lease_end.ok_or("no lease end is stored")?;
    ensure!(close(lease_end, claim.lease_end), "the lease ends at {lease_end:?}, not {:?}", claim.lease_end);
    let (expiration, asked) = (record.expiration.start(), claim.expiration.start());
    ensure!(close(expiration, asked), "it expires at {expiration:?}, not {asked:?}");
    Ok(())
}

async fn a_held_record_refuses_and_shows_itself(bench: &Bench<'_>) -> Verdict {
    let held = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&held, Replaced::Nothing).await?;
    let (record, judgement) = bench.loses(&bench.claim(&owner()?, content("a")?)?).await?;
    ensure!(record.owner.as_ref() == Some(&held.owner), "it shows the owner {:?}", record.owner);
    ensure!(matches!(judgement, Judgement::Busy { .. }), "it is judged {judgement:?}");
    bench.still(&held.record()).await
}

async fn ones_own_claim_is_recognised(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let (_, judgement) = bench.loses(&claim).await?;
    ensure!(judgement == Judgement::Mine, "the resent claim is judged {judgement:?}");
    Ok(())
}

async fn other_content_is_refused_while_held(bench: &Bench<'_>) -> Verdict {
    let held = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&held, Replaced::Nothing).await?;
    let (_, judgement) = bench.loses(&bench.claim(&owner()?, content("b")?)?).await?;
    ensure!(judgement == Judgement::Mismatch, "it is judged {judgement:?}");
    bench.still(&held.record()).await
}

async fn within_the_margin_nobody_takes_over(bench: &Bench<'_>) -> Verdict {
    let held = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&held, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN - MOMENT).await;
    let (_, judgement) = bench.loses(&bench.claim(&owner()?, content("a")?)?).await?;
    ensure!(matches!(judgement, Judgement::Busy { .. }), "it is judged {judgement:?}");
    bench.still(&held.record()).await
}

async fn an_abandoned_claim_is_taken_over_whole(bench: &Bench<'_>) -> Verdict {
    bench.wins(&bench.claim(&owner()?, content("a")?)?, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let next = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&next, Replaced::Abandoned).await?;
    bench.still(&next.record()).await
}

async fn an_abandoned_claim_of_other_content_is_refused(bench: &Bench<'_>) -> Verdict {
    let held = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&held, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let (_, judgement) = bench.loses(&bench.claim(&owner()?, content("b")?)?).await?;
    ensure!(judgement == Judgement::Mismatch, "it is judged {judgement:?}");
    bench.still(&held.record()).await
}

async fn an_abandoned_claim_of_another_rule_is_taken_over(bench: &Bench<'_>) -> Verdict {
    bench.wins(&bench.claim(&owner()?, other_rule("a")?)?, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let next = bench.claim(&owner()?, content("b")?)?;
    bench.wins(&next, Replaced::Abandoned).await?;
    bench.still(&next.record()).await
}

async fn an_abandoned_claim_of_the_same_bare_hash_is_taken_over(bench: &Bench<'_>) -> Verdict {
    bench.wins(&bench.claim(&owner()?, bare_hash("a")?)?, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let next = bench.claim(&owner()?, bare_hash("a")?)?;
    bench.wins(&next, Replaced::Abandoned).await?;
    bench.still(&next.record()).await
}

async fn an_abandoned_claim_of_another_bare_hash_is_refused(bench: &Bench<'_>) -> Verdict {
    let held = bench.claim(&owner()?, bare_hash("a")?)?;
    bench.wins(&held, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let (_, judgement) = bench.loses(&bench.claim(&owner()?, bare_hash("b")?)?).await?;
    ensure!(judgement == Judgement::Mismatch, "it is judged {judgement:?}");
    bench.still(&held.record()).await
}

async fn a_bare_hash_and_a_rule_do_not_compare(bench: &Bench<'_>) -> Verdict {
    bench.wins(&bench.claim(&owner()?, bare_hash("a")?)?, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    bench.wins(&bench.claim(&owner()?, content("b")?)?, Replaced::Abandoned).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    bench.wins(&bench.claim(&owner()?, bare_hash("c")?)?, Replaced::Abandoned).await
}

async fn an_abandoned_claim_without_fingerprint_is_taken_over(bench: &Bench<'_>) -> Verdict {
    bench.wins(&bench.claim(&owner()?, None)?, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    bench.wins(&bench.claim(&owner()?, content("b")?)?, Replaced::Abandoned).await
}

async fn a_claim_without_fingerprint_takes_over(bench: &Bench<'_>) -> Verdict {
    bench.wins(&bench.claim(&owner()?, content("a")?)?, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let next = bench.claim(&owner()?, None)?;
    bench.wins(&next, Replaced::Abandoned).await?;
    bench.still(&next.record()).await
}

async fn a_completed_record_outlives_its_lease(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let done = bench.completion(&claim, "1");
    bench.records(&done).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let (record, judgement) = bench.loses(&bench.claim(&owner()?, content("a")?)?).await?;
    ensure!(judgement == Judgement::ReplayResult, "it is judged {judgement:?}");
    ensure!(record.data.as_deref() == Some("1"), "its result is {:?}", record.data);
    bench.still(&done.record).await
}

async fn a_completed_record_of_other_content_is_a_mismatch(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    bench.records(&bench.completion(&claim, "1")).await?;
    let (_, judgement) = bench.loses(&bench.claim(&owner()?, content("b")?)?).await?;
    ensure!(judgement == Judgement::Mismatch, "it is judged {judgement:?}");
    Ok(())
}

async fn a_failed_record_is_a_stored_failure(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let mut failed = bench.completion(&claim, "\"declined\"");
    failed.record.status = Status::Failed;
    bench.records(&failed).await?;
    let (record, judgement) = bench.loses(&bench.claim(&owner()?, content("a")?)?).await?;
    ensure!(judgement == Judgement::ReplayFailure, "it is judged {judgement:?}");
    ensure!(record.data == failed.record.data, "the failure is {:?}", record.data);
    Ok(())
}

async fn an_expired_result_is_claimed_anew(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    bench.records(&bench.completion(&claim, "1")).await?;
    bench.pass(LIFE + MOMENT).await;
    let next = bench.claim(&owner()?, content("a")?)?;
    expired(bench, &next).await?;
    bench.still(&next.record()).await
}

async fn an_expired_claim_of_other_content_is_claimed_anew(bench: &Bench<'_>) -> Verdict {
    bench.wins(&bench.claim(&owner()?, content("a")?)?, Replaced::Nothing).await?;
    bench.pass(LIFE + MOMENT).await;
    let next = bench.claim(&owner()?, content("b")?)?;
    expired(bench, &next).await?;
    bench.still(&next.record()).await
}

/// An expired record counts as absent: a store may have dropped it, or say that it replaced it.
async fn expired(bench: &Bench<'_>, claim: &crate::ClaimRequest) -> Verdict {
    match bench.try_claim(claim).await? {
        crate::ClaimAnswer::Claimed(Replaced::Expired | Replaced::Nothing) => Ok(()),
        other => Err(format!("an expired record must count as absent, but: {other:?}")),
    }
}

/// An at-most-once claim: its lease lasts as long as the record, its holder until `deadline`.
fn once(bench: &Bench<'_>) -> Result<crate::ClaimRequest, String> {
    let mut claim = bench.claim(&owner()?, content("a")?)?;
    claim.deadline = Some(claim.lease_end);
    claim.lease_end = claim.expiration.end();
    Ok(claim)
}

async fn at_most_once_is_never_taken_over(bench: &Bench<'_>) -> Verdict {
    let claim = once(bench)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let (_, early) = bench.loses(&once(bench)?).await?;
    ensure!(matches!(early, Judgement::Busy { .. }), "before its deadline it is judged {early:?}");
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let (_, late) = bench.loses(&bench.claim(&owner()?, content("a")?)?).await?;
    ensure!(late == Judgement::Interrupted, "after its deadline it is judged {late:?}");
    bench.still(&claim.record()).await
}

async fn at_most_once_expires(bench: &Bench<'_>) -> Verdict {
    bench.wins(&once(bench)?, Replaced::Nothing).await?;
    bench.pass(LIFE + MOMENT).await;
    let next = once(bench)?;
    expired(bench, &next).await?;
    bench.still(&next.record()).await
}

async fn two_records_do_not_touch(bench: &Bench<'_>) -> Verdict {
    let first = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&first, Replaced::Nothing).await?;
    let mut second = bench.claim(&owner()?, content("b")?)?;
    second.id = bench.id(1)?;
    bench.wins(&second, Replaced::Nothing).await?;
    bench.records(&bench.completion(&second, "2")).await?;
    bench.still(&first.record()).await
}
