use macro_ui::*;

#[idempotent(key = "order_id")]
async fn boxed(order: Order) -> Result<Receipt, Box<dyn std::error::Error + Send + Sync>> {
    let _ = order;
    Ok(work())
}

#[idempotent(key = "order_id")]
async fn not_send(order: Order) -> Result<Receipt, Box<dyn std::error::Error>> {
    let _ = order;
    Ok(work())
}

fn main() {
    one_answer(boxed(order()), boxed(order()));
    let store = Default::default();
    on(&store, not_send(order())).expect("done");
}
