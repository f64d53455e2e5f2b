use macro_ui::*;

#[idempotent(key = "order_id")]
async fn reference(order: &Order) -> Result<&u64, Error> {
    Ok(&order.order_id)
}

#[idempotent(key = "@")]
async fn inside(text: &str) -> Result<Vec<(u32, &str)>, Error> {
    Ok(vec![(1, text)])
}

#[idempotent(key = "@")]
async fn constant(text: String) -> Result<&'static str, Error> {
    let _ = text;
    Ok("done")
}

fn main() {}
