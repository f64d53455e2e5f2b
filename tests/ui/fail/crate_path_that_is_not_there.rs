use macro_ui::*;

#[idempotent(key = "order_id", crate = not::there)]
async fn nowhere(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
