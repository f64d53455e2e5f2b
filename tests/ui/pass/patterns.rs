use macro_ui::*;

#[idempotent(key = "order_id")]
async fn submit(Order { order_id, mut version }: Order) -> Result<u64, Error> {
    version += 1;
    Ok(order_id + u64::from(version))
}

#[idempotent(key = "[0]")]
async fn pair((number, text): (u32, String)) -> Result<String, Error> {
    Ok(format!("{number} {text}"))
}

#[idempotent(key = "@")]
async fn ignored(_: u32) -> Result<Receipt, Error> {
    Ok(work())
}

fn main() {
    one_answer(submit(order()), submit(order()));
    one_answer(pair((1, "a".to_owned())), pair((1, "a".to_owned())));
    one_answer(ignored(1), ignored(1));
}
