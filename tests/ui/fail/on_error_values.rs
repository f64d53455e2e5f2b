use macro_ui::*;

#[idempotent(key = "order_id", on_error = "retry")]
async fn word(order: Order) -> Result<(), Error> {
    let _ = order;
    Ok(())
}

#[idempotent(key = "order_id", on_error = 3, store_if = "is_answer", on_replay = true)]
async fn literals(order: Order) -> Result<(), Error> {
    let _ = order;
    Ok(())
}

fn main() {}
