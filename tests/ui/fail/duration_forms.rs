use macro_ui::*;

#[idempotent(key = "order_id", expires_after = "1 hour")]
async fn words(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

#[idempotent(key = "order_id", expires_after = 60)]
async fn number(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

#[idempotent(key = "order_id", wait = "9999999999d")]
async fn overflow(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
