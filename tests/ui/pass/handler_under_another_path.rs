use macro_ui::*;
use lambda_runtime as rt;

#[idempotent(key = "order_id")]
async fn handle(event: rt::LambdaEvent<lambda_idempotency::Raw<Order>>) -> Result<Receipt, rt::Error> {
    let _ = event;
    Ok(work())
}

fn main() {
    one_answer(handle(event()), handle(event()));
}
