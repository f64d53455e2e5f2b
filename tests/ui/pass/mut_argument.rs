use macro_ui::*;

#[idempotent(key = "[order_id, version]")]
async fn submit(mut order: Order) -> Result<u64, Error> {
    order.order_id += 1;
    Ok(order.order_id)
}

fn main() {
    one_answer(submit(order()), submit(order()));
}
