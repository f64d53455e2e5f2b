mod facade {
    pub mod kept {
        pub use lambda_idempotency as safe;
    }
}
use macro_ui::*;

#[facade::kept::safe::idempotent(
    key = "order_id",
    crate = facade::kept::safe,
    wait = "1s",
    on_error = "keep",
    store_if = |receipt| receipt.run > 0,
)]
async fn submit(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {
    one_answer(submit(order()), submit(order()));
}
