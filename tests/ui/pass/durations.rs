use macro_ui::*;
use std::time::Duration;

const LIFE: Duration = Duration::from_secs(90);

#[idempotent(key = "@", expires_after = "30s", wait = "15m")]
async fn text(number: u32) -> Result<u32, Error> {
    Ok(number)
}

#[idempotent(key = "@", expires_after = LIFE * 2, wait = LIFE)]
async fn constant(number: u32) -> Result<u32, Error> {
    Ok(number)
}

#[idempotent(key = "@", expires_after = { let hours = 3; Duration::from_secs(hours * 3600) })]
async fn block(number: u32) -> Result<u32, Error> {
    Ok(number)
}

fn main() {
    one_answer(text(1), text(1));
    one_answer(constant(1), constant(1));
    one_answer(block(1), block(1));
}
