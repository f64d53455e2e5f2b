use macro_ui::*;

#[idempotent(key = "order_id", store = "idempotency")]
async fn table(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
