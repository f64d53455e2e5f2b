use macro_ui::*;

#[idempotent(key = "order_id", fingerprint = "[instruction,")]
async fn submit(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
