use macro_ui::*;

#[idempotent(key = "order_id", input = order, name = "orders.submit")]
async fn submit(order: impl serde::Serialize + Send, work: impl Fn() -> Receipt + Send) -> Result<Receipt, Error> {
    Ok(work())
}

fn main() {
    one_answer(submit(order(), work as fn() -> _), submit(order(), work as fn() -> _));
}
