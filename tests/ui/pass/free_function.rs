use macro_ui::*;

#[idempotent(key = "[order_id, version]")]
async fn submit(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {
    one_answer(submit(order()), submit(order()));
}
