//! What a read finds.

use super::bench::{Bench, LIFE, MOMENT, content, owner};
use super::{Verdict, cases, ensure};
use crate::Replaced;

cases![nothing_is_found_where_nothing_is, an_expired_record_is_not_found, a_result_is_found_until_it_expires];

async fn nothing_is_found_where_nothing_is(bench: &Bench<'_>) -> Verdict {
    ensure!(bench.stands().await?.is_none(), "a record was found");
    Ok(())
}

async fn an_expired_record_is_not_found(bench: &Bench<'_>) -> Verdict {
    bench.wins(&bench.claim(&owner()?, content("a")?)?, Replaced::Nothing).await?;
    bench.pass(LIFE + MOMENT).await;
    ensure!(bench.stands().await?.is_none(), "it is still found");
    Ok(())
}

async fn a_result_is_found_until_it_expires(bench: &Bench<'_>) -> Verdict {
    let claim = bench.claim(&owner()?, None)?;
    bench.wins(&claim, Replaced::Nothing).await?;
    let done = bench.completion(&claim, "1");
    bench.records(&done).await?;
    bench.pass(LIFE - MOMENT).await;
    bench.still(&done.record).await?;
    bench.pass(MOMENT * 2).await;
    ensure!(bench.stands().await?.is_none(), "it is still found");
    Ok(())
}
