use macro_ui::*;

#[idempotent(key = "order_id", store_if = |text: &String| text.is_empty())]
async fn submit(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
