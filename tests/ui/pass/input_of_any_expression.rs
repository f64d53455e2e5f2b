use macro_ui::*;
use serde_json::json;

#[idempotent(key = "[who, order.order_id]", input = json!({"who": who, "order": order}))]
async fn built(who: &str, order: &Order) -> Result<Receipt, Error> {
    let _ = (who, order);
    Ok(work())
}

#[idempotent(key = "@", input = order.order_id + 1)]
async fn computed(order: &Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(work())
}

#[idempotent(key = "@", input = *number)]
async fn dereferenced(number: &u32, _client: &Client) -> Result<Receipt, Error> {
    Ok(work())
}

#[idempotent(key = "[0]", input = (a, b))]
async fn tuple(a: u32, b: u32) -> Result<Receipt, Error> {
    let _ = (a, b);
    Ok(work())
}

fn main() {
    let (order, client) = (order(), Client::default());
    one_answer(built("ada", &order), built("ada", &order));
    one_answer(computed(&order), computed(&order));
    one_answer(dereferenced(&7, &client), dereferenced(&7, &client));
    one_answer(tuple(1, 2), tuple(1, 2));
}
