use macro_ui::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

#[idempotent(key = "order_id", input = input, name = "orders.convert")]
async fn convert<I: Serialize + Sync, T, const N: usize>(input: &I, make: fn() -> T) -> Result<[T; 1], Error>
where
    T: Serialize + DeserializeOwned + Send,
{
    let _ = (input, N);
    Ok([make()])
}

fn main() {
    let order = order();
    one_answer(convert::<_, _, 3>(&order, work), convert::<_, _, 3>(&order, work));
}
