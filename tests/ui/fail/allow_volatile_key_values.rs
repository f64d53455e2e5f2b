//! `allow_volatile_key` stands alone or is `true` or `false`; with `false` the key is refused.

use lambda_idempotency::{Error, idempotent};

const YES: bool = true;

#[idempotent(key = "receiptHandle", allow_volatile_key = false)]
async fn switched_off(order: String) -> Result<(), Error> {
    Ok(())
}

#[idempotent(key = "order_id", allow_volatile_key = YES)]
async fn not_a_literal(order: String) -> Result<(), Error> {
    Ok(())
}

#[idempotent(key = "order_id", allow_volatile_key "yes")]
async fn no_equals_sign(order: String) -> Result<(), Error> {
    Ok(())
}

#[idempotent(key = "order_id", allow_volatile_key, allow_volatile_key)]
async fn twice(order: String) -> Result<(), Error> {
    Ok(())
}

#[idempotent(key = "[order_id, requestContext]")]
async fn as_a_whole(order: String) -> Result<(), Error> {
    Ok(())
}

fn main() {}
