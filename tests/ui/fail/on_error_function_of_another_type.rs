use macro_ui::*;

fn is_final(_: &Error) -> bool {
    true
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct SubmitError;

impl From<Error> for SubmitError {
    fn from(_: Error) -> Self {
        Self
    }
}

#[idempotent(key = "order_id", on_error = is_final)]
async fn submit(order: Order) -> Result<(), SubmitError> {
    let _ = order;
    Ok(())
}

fn main() {}
