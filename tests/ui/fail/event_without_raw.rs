use macro_ui::*;

#[idempotent(key = "order_id")]
async fn handle(event: LambdaEvent<Order>) -> Result<Receipt, Error> {
    let _ = event;
    Ok(work())
}

#[idempotent(key = "order_id")]
async fn untyped(event: LambdaEvent<serde_json::Value>) -> Result<Receipt, Error> {
    let _ = event;
    Ok(work())
}

fn main() {}
