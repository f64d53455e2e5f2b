use macro_ui::*;
use lambda_idempotency::MemoryStore;
use std::sync::Arc;

#[allow(async_fn_in_trait)]
trait Pay {
    async fn pay(&self, order: &Order) -> Result<Receipt, Error>;

    /// Its own name, or each type that uses it would need one.
    #[idempotent(key = "order_id", name = "refund")]
    async fn refund(&self, order: &Order) -> Result<Receipt, Error> {
        let _ = order;
        Ok(work())
    }

    #[idempotent(key = "order_id")]
    async fn cancel(&self, order: &Order) -> Result<Receipt, Error> {
        let _ = order;
        Ok(work())
    }
}

struct Card;
struct Transfer;

impl Pay for Card {
    #[idempotent(key = "order_id", name = "card.pay")]
    async fn pay(&self, order: &Order) -> Result<Receipt, Error> {
        let _ = order;
        Ok(work())
    }
}

impl Pay for Transfer {
    #[idempotent(key = "order_id", name = "transfer.pay")]
    async fn pay(&self, order: &Order) -> Result<Receipt, Error> {
        let _ = order;
        Ok(work())
    }
}

fn main() {
    let (store, order) = (Arc::new(MemoryStore::new()), order());
    let card = on(&store, Card.pay(&order)).expect("paid");
    assert_eq!(on(&store, Card.pay(&order)).expect("paid"), card);
    assert_ne!(on(&store, Transfer.pay(&order)).expect("paid"), card);
    let refund = on(&store, Card.refund(&order)).expect("refunded");
    assert_eq!(on(&store, Transfer.refund(&order)).expect("refunded"), refund);
    // One body for two types has one name for neither.
    for error in [on(&store, Card.cancel(&order)), on(&store, Transfer.cancel(&order))] {
        let error = error.expect_err("it ran under a name of both").to_string();
        assert!(error.contains("cancel") && error.contains("name = "), "{error}");
    }
}
