use macro_ui::*;

#[idempotent(key = "order_id", input = ordre)]
async fn submit(order: Order, client: &Client) -> Result<Receipt, Error> {
    let _ = order;
    Ok(client.work())
}

fn main() {}
