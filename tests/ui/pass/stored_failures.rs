use lambda_idempotency::OnError;
use macro_ui::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
enum PayError {
    #[error("declined")]
    Declined,
    #[error("timeout")]
    Timeout,
    #[error("not paid: {0}")]
    Idempotency(String),
}

impl From<Error> for PayError {
    fn from(error: Error) -> Self {
        Self::Idempotency(error.to_string())
    }
}

impl PayError {
    fn is_final(&self) -> OnError {
        if *self == Self::Declined { OnError::Store } else { OnError::Release }
    }
}

#[idempotent(key = "order_id", input = order, on_error = "store")]
async fn all(order: &Order, error: PayError) -> Result<(), PayError> {
    let _ = order;
    Err(error)
}

#[idempotent(key = "order_id", input = order, on_error = PayError::is_final)]
async fn some(order: &Order, error: PayError) -> Result<(), PayError> {
    let _ = order;
    Err(error)
}

fn main() {
    let (store, order) = (Default::default(), order());
    assert_eq!(on(&store, all(&order, PayError::Timeout)), Err(PayError::Timeout));
    assert_eq!(on(&store, all(&order, PayError::Declined)), Err(PayError::Timeout));
    assert_eq!(on(&store, some(&order, PayError::Timeout)), Err(PayError::Timeout));
    assert_eq!(on(&store, some(&order, PayError::Declined)), Err(PayError::Declined));
    assert_eq!(on(&store, some(&order, PayError::Timeout)), Err(PayError::Declined));
}
