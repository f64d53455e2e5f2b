use macro_ui::*;

#[idempotent(key = "order_id", name = "a", key = "version", name = "b")]
async fn submit(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
