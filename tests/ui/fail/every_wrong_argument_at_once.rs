use macro_ui::*;

#[idempotent(
    kye = "order_id",
    expires_after = 3600,
    ttl = "1h",
    name = "a#b",
    name = "again",
    store = "orders-table",
    wait = "0s",
    in_progress = "skip",
    lease = "30s",
)]
async fn submit(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
