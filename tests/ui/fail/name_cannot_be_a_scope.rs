use macro_ui::*;

#[idempotent(key = "order_id", name = "")]
async fn empty(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

#[idempotent(key = "order_id", name = "orders#submit")]
async fn separator(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
