use macro_ui::*;

#[idempotent(key = "order_id", policy = lambda_idempotency::Lease::Deadline)]
async fn lease(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
