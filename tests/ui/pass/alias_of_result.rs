use macro_ui::*;

type Answer<T> = Result<T, Error>;
type Done = std::result::Result<Receipt, lambda_runtime::Error>;

#[idempotent(key = "order_id")]
async fn with_parameter(order: Order) -> Answer<Receipt> {
    let _ = order;
    Ok(work())
}

#[idempotent(key = "order_id")]
async fn without(order: Order) -> Done {
    let _ = order;
    Ok(work())
}

fn main() {
    one_answer(with_parameter(order()), with_parameter(order()));
    one_answer(without(order()), without(order()));
}
