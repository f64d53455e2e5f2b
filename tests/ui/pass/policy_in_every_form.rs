use lambda_idempotency::{Lease, OnError, Policy};
use macro_ui::*;
use std::time::Duration;

static SHARED: Policy = Policy::new().lease(Lease::Fixed(Duration::from_secs(30)));
const CONSTANT: Policy = Policy::new().on_error(OnError::Keep);

fn made() -> Policy {
    Policy::new().fail_open()
}

#[idempotent(key = "order_id", policy = SHARED)]
async fn path(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

#[idempotent(key = "order_id", policy = &SHARED)]
async fn reference(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

#[idempotent(key = "order_id", policy = CONSTANT)]
async fn constant(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

#[idempotent(key = "order_id", policy = made().margin(Duration::from_secs(3)))]
async fn call(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {
    one_answer(path(order()), path(order()));
    one_answer(reference(order()), reference(order()));
    one_answer(constant(order()), constant(order()));
    one_answer(call(order()), call(order()));
}
