use lambda_idempotency::{MemoryStore, Policy};
use macro_ui::*;
use std::sync::Arc;
use std::time::Duration;

static WEEK: Policy = Policy::new().expires_after(Duration::from_secs(7 * 24 * 3600));

#[idempotent(key = "order_id", policy = WEEK, name = "week")]
async fn week(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

#[idempotent(key = "order_id", expires_after = "1m", policy = WEEK, name = "minute")]
async fn minute(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {
    let store = Arc::new(MemoryStore::new());
    on(&store, week(order())).expect("done");
    on(&store, minute(order())).expect("done");
    for record in store.records() {
        let life = record.expiration.get() - 1_900_000_000;
        assert_eq!(life, if record.id.name() == "week" { 604_800 } else { 60 });
    }
}
