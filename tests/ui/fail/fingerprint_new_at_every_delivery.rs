use macro_ui::*;

#[idempotent(key = "order_id", fingerprint = "Records[0].receiptHandle")]
async fn submit(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
