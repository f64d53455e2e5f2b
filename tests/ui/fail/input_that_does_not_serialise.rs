use macro_ui::*;

#[idempotent(key = "id")]
async fn only(client: Client) -> Result<Receipt, Error> {
    Ok(client.work())
}

#[idempotent(key = "id", input = client)]
async fn named(client: &Client, order: Order) -> Result<Receipt, Error> {
    let _ = order;
    Ok(client.work())
}

fn main() {}
