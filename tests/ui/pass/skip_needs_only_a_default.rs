use macro_ui::*;

#[idempotent(key = "@", in_progress = "skip")]
async fn tick(hour: u32) -> Result<(), Error> {
    let _ = hour;
    Ok(())
}

#[idempotent(key = "@", in_progress = "skip")]
async fn maybe(hour: u32) -> Result<Option<Receipt>, Error> {
    let _ = hour;
    Ok(Some(work()))
}

fn main() {
    one_answer(tick(1), tick(1));
    one_answer(maybe(1), maybe(1));
}
