use macro_ui::*;

type Answer = Option<Receipt>;

#[idempotent(key = "order_id")]
async fn submit(order: Order) -> Answer {
    let _ = order;
    Some(work())
}

fn main() {}
