use macro_ui::*;

#[tracing::instrument(skip_all)]
#[idempotent(key = "order_id")]
#[allow(clippy::unused_async)]
async fn above(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

#[must_use]
#[idempotent(key = "order_id")]
#[tracing::instrument(skip_all, fields(order.id = order.order_id), err)]
async fn below(order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {
    one_answer(above(order()), above(order()));
    one_answer(below(order()), below(order()));
}
