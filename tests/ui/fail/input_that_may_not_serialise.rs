use macro_ui::*;

#[idempotent(key = "id", name = "submit")]
async fn submit<T: Send>(order: T) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

fn main() {}
