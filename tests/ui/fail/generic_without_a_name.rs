// One function for all types is one scope for all types: Card's payment would answer for Transfer's.
use macro_ui::*;

#[idempotent(key = "order_id", input = order)]
async fn pay<By>(by: By, order: Order) -> Result<Receipt, Error> {
    let _ = (by, order);
    Ok(work())
}

#[idempotent(key = "order_id")]
async fn submit(order: impl serde::Serialize) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

trait Life {
    const LIFE: std::time::Duration;
}

#[idempotent(key = "order_id", input = order, name = "refund", expires_after = By::LIFE)]
async fn refund<By: Life>(by: By, order: Order) -> Result<Receipt, Error> {
    let _ = (by, order);
    Ok(work())
}

fn main() {}
