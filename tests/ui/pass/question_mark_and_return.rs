use macro_ui::*;

#[derive(Debug, thiserror::Error)]
enum SubmitError {
    #[error("idempotency")]
    Idempotency(#[from] Error),
    #[error("no number")]
    Number(#[from] std::num::ParseIntError),
}

#[idempotent(key = "@")]
async fn submit(text: String) -> Result<i64, SubmitError> {
    if text == "early" {
        return Ok(0);
    }
    let number: i64 = text.parse()?;
    let parsed = (|| -> Result<i64, SubmitError> { Ok("1".parse::<i64>()?) })()?;
    Ok(number + parsed)
}

fn main() {
    one_answer(submit("early".to_owned()), submit("early".to_owned()));
    one_answer(submit("41".to_owned()), submit("41".to_owned()));
    let store = Default::default();
    let error = on(&store, submit("x".to_owned())).expect_err("no number");
    assert!(matches!(error, SubmitError::Number(_)));
}
