use lambda_idempotency::Replay;
use macro_ui::*;

fn is_answer(receipt: &Receipt) -> bool {
    receipt.run > 1
}

#[derive(Debug, thiserror::Error)]
enum SubmitError {
    #[error("idempotency")]
    Idempotency(#[from] Error),
    #[error("replayed")]
    Replayed,
}

fn refuse(_: &Receipt, _: &Replay) -> Result<(), SubmitError> {
    Err(SubmitError::Replayed)
}

#[idempotent(key = "order_id", store_if = is_answer, on_replay = refuse)]
async fn submit(order: Order) -> Result<Receipt, SubmitError> {
    let _ = order;
    Ok(work())
}

fn main() {
    let store = Default::default();
    assert_eq!(on(&store, submit(order())).expect("not kept").run, 1);
    assert_eq!(on(&store, submit(order())).expect("kept").run, 2);
    let replayed = on(&store, submit(order()));
    assert!(matches!(replayed, Err(SubmitError::Replayed)), "{replayed:?}");
}
