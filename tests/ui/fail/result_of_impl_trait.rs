use macro_ui::*;

trait IntoResponse {}
impl IntoResponse for Receipt {}

#[idempotent(key = "order_id")]
async fn inside(order: Order) -> Result<impl IntoResponse, Error> {
    let _ = order;
    Ok(work())
}

#[idempotent(key = "order_id")]
async fn whole(order: Order) -> impl IntoResponse {
    let _ = order;
    work()
}

#[idempotent(key = "order_id")]
async fn error(order: Order) -> Result<Receipt, impl std::error::Error + From<Error>> {
    let _ = order;
    Ok::<_, Error>(work())
}

fn main() {}
