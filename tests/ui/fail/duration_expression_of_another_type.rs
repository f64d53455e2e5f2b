use macro_ui::*;

const LIFE: u64 = 60;

#[idempotent(key = "order_id", expires_after = LIFE)]
async fn submit(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
