use macro_ui::*;

#[derive(Debug)]
enum SubmitError {
    Provider,
}

#[idempotent(key = "order_id")]
async fn submit(order: Order) -> Result<Receipt, SubmitError> {
    let _ = order;
    Err(SubmitError::Provider)
}

#[idempotent(key = "order_id")]
async fn text(order: Order) -> Result<Receipt, String> {
    let _ = order;
    Err("no".to_owned())
}

fn main() {}
