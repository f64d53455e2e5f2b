use macro_ui::*;

#[idempotent(key = "[order_id, version]")]
async fn handle(event: LambdaEvent<Raw<Order>>) -> Result<Receipt, lambda_runtime::Error> {
    assert_eq!(event.payload.order_id, 77);
    Ok(work())
}

fn main() {
    one_answer(handle(event()), handle(event()));
    // As the runtime takes it.
    let _service = lambda_idempotency::service_fn(handle);
}
