use macro_ui::*;

#[idempotent(key = "headers.idempotency-key")]
async fn hyphen(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

#[idempotent(key = "[order_id, ")]
async fn open(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

#[idempotent(key = "")]
async fn empty(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
