use macro_ui::*;

#[idempotent(key = "order_id", wait = "10s", in_progress = "skip")]
async fn submit(order: Order) -> Result<(), Error> {
    let _ = order;
    Ok(())
}

fn main() {}
