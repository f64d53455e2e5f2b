use macro_ui::*;

#[idempotent(key = "sha256(order_id)")]
async fn submit(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
