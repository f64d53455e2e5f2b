//! Whose result is recorded.

use super::bench::{Bench, LEASE, LIFE, MARGIN, MOMENT, close, content, owner};
use super::{Verdict, cases, ensure};
use crate::{ReleaseAnswer, Replaced, Status};

cases![
    the_holder_records_its_result,
    a_resent_completion_is_a_success,
    a_late_holder_that_was_not_overtaken_records,
    an_overtaken_holder_is_refused_while_the_successor_works,
    an_overtaken_holder_is_shown_the_successors_result,
    a_result_is_recorded_where_the_successor_gave_up,
    a_result_is_recorded_over_an_expired_record,
    a_completion_counts_from_its_own_time,
    a_completion_clears_what_the_claim_alone_had,
    a_result_that_was_left_out_has_no_data,
    results_come_back_to_the_byte,
];

async fn the_holder_records_its_result(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let done = bench.completion(&claim, r#"{"run_id":"run-1"}"#);
    bench.records(&done).await?;
    bench.still(&done.record).await
}

async fn a_resent_completion_is_a_success(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let done = bench.completion(&claim, "1");
    bench.records(&done).await?;
    bench.records(&done).await?;
    bench.still(&done.record).await
}

async fn a_late_holder_that_was_not_overtaken_records(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let done = bench.completion(&claim, "1");
    bench.records(&done).await?;
    bench.still(&done.record).await
}

async fn an_overtaken_holder_is_refused_while_the_successor_works(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let next = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&next, Replaced::Abandoned).await?;
    let record = bench.complete(&bench.completion(&claim, "1")).await?.ok_or("it overwrote its successor")?;
    ensure!(record.owner.as_ref() == Some(&next.owner), "it was shown the owner {:?}", record.owner);
    bench.still(&next.record()).await
}

async fn an_overtaken_holder_is_shown_the_successors_result(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let next = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&next, Replaced::Abandoned).await?;
    let answer = bench.completion(&next, "2");
    bench.records(&answer).await?;
    let record =
        bench.complete(&bench.completion(&claim, "1")).await?.ok_or("it overwrote its successor's result")?;
    ensure!(record.data.as_deref() == Some("2"), "it was shown the result {:?}", record.data);
    bench.still(&answer.record).await
}

async fn a_result_is_recorded_where_the_successor_gave_up(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let next = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&next, Replaced::Abandoned).await?;
    let released = bench.release(&next.owner).await?;
    ensure!(released == ReleaseAnswer::Released, "the successor's release: {released:?}");
    let done = bench.completion(&claim, "1");
    bench.records(&done).await?;
    bench.still(&done.record).await
}

async fn a_result_is_recorded_over_an_expired_record(bench: &Bench<'_>) -> Verdict {
    bench.wins(&bench.claim(&owner()?, content("b")?)?, Replaced::Nothing).await?;
    bench.pass(LIFE + MOMENT).await;
    let mine = bench.claim(&owner()?, content("a")?)?;
    let done = bench.completion(&mine, "1");
    bench.records(&done).await?;
    bench.still(&done.record).await
}

async fn a_completion_counts_from_its_own_time(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    bench.pass(LEASE - MOMENT).await;
    let done = bench.completion(&claim, "1");
    bench.records(&done).await?;
    let expiration = bench.stands().await?.ok_or("it is gone")?.expiration.start();
    let asked = done.record.expiration.start();
    ensure!(close(expiration, asked), "it expires at {expiration:?}, not {asked:?}");
    Ok(())
}

async fn a_completion_clears_what_the_claim_alone_had(bench: &Bench<'_>) -> Verdict {
    let mut claim = bench.claim(&owner()?, content("a")?)?;
    claim.deadline = Some(claim.lease_end);
    claim.lease_end = claim.expiration.end();
    bench.wins(&claim, Replaced::Nothing).await?;
    let done = bench.completion(&claim, "1");
    bench.records(&done).await?;
    bench.pass(LEASE + MARGIN + MOMENT).await;
    let (_, judgement) = bench.loses(&bench.claim(&owner()?, content("a")?)?).await?;
    ensure!(judgement == crate::decide::Verdict::ReplayResult, "it is judged {judgement:?}");
    bench.still(&done.record).await
}

async fn a_result_that_was_left_out_has_no_data(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, content("a")?)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let mut done = bench.completion(&claim, "1");
    done.record.data = None;
    done.record.encoding = Some("omitted:500000".to_owned());
    bench.records(&done).await?;
    bench.still(&done.record).await
}

async fn results_come_back_to_the_byte(bench: &Bench<'_>) -> Verdict {
    let long = format!("\"{}\"", "ä€😀\\u0000".repeat(10_000));
    let results =
        ["null", "\"\"", "[]", "{}", "0", "18446744073709551615", "\"\\\"\\n\u{1F600}\u{7f}\"", " 1 ", &long];
    for (number, result) in (0..).zip(results) {
        let mut claim = bench.claim(&owner()?, content("a")?)?;
        claim.id = bench.id(number)?;
        bench.wins(&claim, Replaced::Nothing).await?;
        let done = bench.completion(&claim, result);
        bench.records(&done).await?;
        let reading =
            bench.store().get(&claim.id, bench.subject.now()).await.map_err(|error| error.to_string())?;
        let record = reading.record.ok_or("it is gone")?;
        ensure!(record.status == Status::Completed, "result {number} is {:?}", record.status);
        ensure!(record.data.as_deref() == Some(result), "result {number} came back changed");
    }
    Ok(())
}
