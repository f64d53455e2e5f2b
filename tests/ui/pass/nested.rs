use macro_ui::*;
use lambda_idempotency::{Attempt, MemoryStore};
use std::sync::Arc;

#[idempotent(key = "order_id")]
async fn outer(order: Order) -> Result<(String, String), Error> {
    let mine = Attempt::current().expect("guarded").record_id().expect("a record").to_string();
    Ok((mine, inner(&order).await?))
}

#[idempotent(key = "order_id")]
async fn inner(order: &Order) -> Result<String, Error> {
    let _ = order;
    Ok(Attempt::current().expect("guarded").record_id().expect("a record").to_string())
}

fn main() {
    let store = Arc::new(MemoryStore::new());
    let (outer, inner) = on(&store, outer(order())).expect("done");
    assert_ne!(outer, inner);
    assert_eq!(store.records().len(), 2);
}
