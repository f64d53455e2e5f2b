use macro_ui::*;

#[idempotent(key = "order_id", policy = "strict")]
async fn text(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
