use macro_ui::*;

#[idempotent(key = "order_id")]
async fn submit(order: Order) -> Result<Order, Error> {
    order.version += 1;
    Ok(order)
}

fn main() {}
