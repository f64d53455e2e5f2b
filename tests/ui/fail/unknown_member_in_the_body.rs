// Half-typed code: the rest of the function is still understood.
use macro_ui::*;

#[idempotent(key = "order_id")]
async fn submit(event: LambdaEvent<Raw<Order>>) -> Result<u64, Error> {
    let id = event.payload.order_ident;
    Ok(id)
}

fn main() {}
