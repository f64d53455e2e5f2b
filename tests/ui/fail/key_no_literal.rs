use macro_ui::*;

const KEY: &str = "order_id";

#[idempotent(key = KEY)]
async fn submit(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
