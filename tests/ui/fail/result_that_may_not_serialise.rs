use macro_ui::*;

#[idempotent(key = "order_id", input = order, name = "submit")]
async fn submit<T>(order: Order, make: fn() -> T) -> Result<T, Error> {
    let _ = order;
    Ok(make())
}

fn main() {}
