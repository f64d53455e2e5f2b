use macro_ui::*;

#[idempotent(key = "order_id")]
async fn handle(LambdaEvent { payload, context }: LambdaEvent<Raw<Order>>) -> Result<Receipt, Error> {
    assert_eq!((payload.version, context.request_id.as_str()), (3, ""));
    Ok(work())
}

fn main() {
    one_answer(handle(event()), handle(event()));
}
