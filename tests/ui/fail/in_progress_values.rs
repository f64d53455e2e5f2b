use macro_ui::*;

#[idempotent(key = "order_id", in_progress = "wait")]
async fn wait(order: Order) -> Result<(), Error> {
    let _ = order;
    Ok(())
}

#[idempotent(key = "order_id", in_progress = "ignore")]
async fn other(order: Order) -> Result<(), Error> {
    let _ = order;
    Ok(())
}

#[idempotent(key = "order_id", in_progress = skip)]
async fn path(order: Order) -> Result<(), Error> {
    let _ = order;
    Ok(())
}

fn main() {}
