use macro_ui::*;

#[derive(Debug, thiserror::Error)]
enum SubmitError {
    #[error("not submitted")]
    Idempotency(#[from] Error),
}

#[idempotent(key = "order_id", on_error = "store")]
async fn submit(order: Order) -> Result<(), SubmitError> {
    let _ = order;
    Ok(())
}

fn main() {}
