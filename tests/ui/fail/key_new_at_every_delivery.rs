use macro_ui::*;

#[idempotent(key = "receiptHandle")]
async fn submit(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
