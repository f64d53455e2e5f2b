// The policy is made once, at the first call: an argument of that call would count for all others.
use macro_ui::*;

#[idempotent(key = "order_id", input = order, expires_after = life)]
async fn submit(order: Order, life: std::time::Duration) -> Result<Receipt, Error> {
    let _ = (order, life);
    Ok(work())
}

fn main() {}
