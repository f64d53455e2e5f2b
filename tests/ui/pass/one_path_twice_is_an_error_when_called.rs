// Functions inside of functions have the path of their module, so the macro cannot tell them apart: in every
// process, whichever is called first.
use macro_ui::*;
use lambda_idempotency::MemoryStore;
use std::sync::Arc;

async fn checkout(order: Order) -> Result<Receipt, Error> {
    #[idempotent(key = "order_id")]
    async fn pay(order: Order) -> Result<Receipt, Error> {
        let _ = order;
        Ok(work())
    }
    pay(order).await
}

async fn subscription(order: Order) -> Result<Receipt, Error> {
    #[idempotent(key = "order_id")]
    async fn pay(order: Order) -> Result<Receipt, Error> {
        let _ = order;
        Ok(work())
    }
    pay(order).await
}

fn main() {
    let store = Arc::new(MemoryStore::new());
    for error in [on(&store, checkout(order())), on(&store, subscription(order()))] {
        let error = error.expect_err("it took a name that another has").to_string();
        assert!(error.contains("pay") && error.contains("name = "), "{error}");
    }
    assert!(store.records().is_empty());
}
