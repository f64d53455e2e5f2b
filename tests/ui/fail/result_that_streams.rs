use lambda_runtime::{FunctionResponse, StreamResponse, streaming};
use macro_ui::*;

#[idempotent(key = "order_id")]
async fn response(order: Order) -> Result<StreamResponse<streaming::Body>, Error> {
    let _ = order;
    todo!()
}

#[idempotent(key = "order_id")]
async fn renamed(order: Order) -> Result<streaming::Response<streaming::Body>, Error> {
    let _ = order;
    todo!()
}

#[idempotent(key = "order_id")]
async fn either(order: Order) -> Result<FunctionResponse<Receipt, streaming::Body>, Error> {
    let _ = order;
    todo!()
}

fn main() {}
