// Only the compiler's name of the type tells, so that this is an error when it is called.
use aws_lambda_events::sqs::SqsMessage;
use lambda_idempotency::MemoryStore;
use macro_ui::*;
use std::sync::Arc;

#[idempotent(key = "messageId")]
async fn by_value(message: SqsMessage) -> Result<(), Error> {
    let _ = message;
    panic!("it ran");
}

#[idempotent(key = "@", input = &messages[..])]
async fn by_slice(messages: &[SqsMessage], _client: &Client) -> Result<(), Error> {
    panic!("it ran");
}

#[idempotent(key = "messageId", fingerprint = "none", input = message)]
async fn raw(message: Raw<SqsMessage>) -> Result<(), Error> {
    let _ = message;
    Ok(())
}

fn main() {
    let store = Arc::new(MemoryStore::new());
    let error = on(&store, by_value(SqsMessage::default())).expect_err("it took it");
    assert_eq!(error.name(), "Config");
    assert!(error.to_string().contains("LambdaEvent<Raw<…>>"), "{error}");
    assert_eq!(on(&store, by_slice(&[], &Client::default())).expect_err("it took it").name(), "Config");
    assert_eq!(store.records().len(), 0);
    let message = Raw::from_json(r#"{"messageId": "m", "attributes": {}, "messageAttributes": {}}"#).expect("a message");
    on(&store, raw(message)).expect("its text is at hand");
}
