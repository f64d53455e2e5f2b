use macro_ui::*;

#[idempotent(key = "order_id")]
async fn submit(order: Order) -> Result<Reciept, Error> {
    let _ = order;
    todo!()
}

fn main() {}
