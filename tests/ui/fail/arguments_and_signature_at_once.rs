use macro_ui::*;

#[idempotent(key = "order id", fingerprint = 5, frobnicate)]
fn submit(order: Order, note: &str) -> &str {
    note
}

#[idempotent(key = "order_id", retries = 3)]
async fn many(order: Order, note: String) {
    let _ = (order, note);
}

fn main() {}
