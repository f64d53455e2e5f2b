// Functions inside of functions have the path of their module, so the macro cannot tell them apart.
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
    on(&store, checkout(order())).expect("the first");
    let error = on(&store, subscription(order())).expect_err("it took the other's records");
    assert!(error.to_string().contains("name"), "{error}");
}
