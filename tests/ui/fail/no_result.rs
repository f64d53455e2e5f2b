use macro_ui::*;

#[idempotent(key = "order_id")]
async fn nothing(order: Order) {
    let _ = order;
}

#[idempotent(key = "order_id")]
async fn unit(order: Order) -> () {
    let _ = order;
}

fn main() {}
