use macro_ui::*;

#[idempotent(key = "order_id", crate = "facade")]
async fn text(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
