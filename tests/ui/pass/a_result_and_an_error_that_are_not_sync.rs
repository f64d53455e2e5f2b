// Nothing of the engine holds a reference to them while it waits for the store.
use macro_ui::*;
use std::cell::Cell;

#[derive(Debug, thiserror::Error)]
enum SubmitError {
    #[error("idempotency")]
    Idempotency(#[from] Error),
    #[error("{0:?}")]
    Own(Cell<u32>),
}

#[idempotent(key = "order_id")]
async fn submit(order: Order) -> Result<Cell<u32>, SubmitError> {
    match order.order_id {
        0 => Err(SubmitError::Own(Cell::new(order.version))),
        _ => Ok(Cell::new(order.version)),
    }
}

fn main() {
    one_answer(submit(order()), submit(order()));
}
