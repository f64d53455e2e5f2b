use macro_ui::*;

#[idempotent(key = "order_id", store = Client::default())]
async fn no_store(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
