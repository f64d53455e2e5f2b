use macro_ui::*;
use serde_json::value::RawValue;

#[idempotent(key = "order_id")]
async fn handle(event: LambdaEvent<Box<RawValue>>) -> Result<Receipt, Error> {
    assert!(event.payload.get().contains("77"));
    Ok(work())
}

fn event() -> LambdaEvent<Box<RawValue>> {
    let text = RawValue::from_string(r#"{"order_id": 77}"#.to_owned()).expect("JSON");
    LambdaEvent::new(text, Context::default())
}

fn main() {
    one_answer(handle(event()), handle(event()));
}
