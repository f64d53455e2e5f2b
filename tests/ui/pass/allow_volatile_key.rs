//! A key that is new at every delivery is taken where that is said.

use lambda_idempotency::{Error, idempotent};

#[idempotent(key = "receiptHandle", allow_volatile_key)]
async fn alone(order: String) -> Result<(), Error> {
    drop(order);
    Ok(())
}

#[idempotent(allow_volatile_key, key = "Records[0]",)]
async fn first(order: String) -> Result<(), Error> {
    drop(order);
    Ok(())
}

#[idempotent(allow_volatile_key = true, key = "requestContext")]
async fn with_a_value(order: String) -> Result<(), Error> {
    drop(order);
    Ok(())
}

fn main() {
    let _ = (alone, first, with_a_value);
}
