use macro_ui::*;

#[idempotent(key = "order_id")]
async fn submit(order: Order) -> Result<Receipt, Error> {
    let receipt: Receipt = order.version;
    Ok(receipt)
}

#[idempotent(key = "order_id")]
async fn tail(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    work()
}

#[idempotent(key = "order_id")]
async fn question(order: Order) -> Result<u32, Error> {
    let number: u32 = order.version.to_string().parse()?;
    Ok(number)
}

#[idempotent(key = "order_id")]
async fn empty(order: Order) -> Result<Receipt, Error> {
    let _ = order;
}

fn main() {}
