use macro_ui::*;

#[idempotent(key = "order_id")]
async fn option(order: Order) -> Option<Receipt> {
    let _ = order;
    Some(work())
}

fn main() {}
