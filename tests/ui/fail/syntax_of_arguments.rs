use macro_ui::*;

#[idempotent("order_id")]
async fn bare(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

#[idempotent(key("order_id"), name: "orders", wait, expires_after = , 5)]
async fn forms(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

#[idempotent(key = "order_id" name = "orders" wait = "soon")]
async fn commas(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
