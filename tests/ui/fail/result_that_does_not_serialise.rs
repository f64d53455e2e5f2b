use macro_ui::*;

#[derive(serde::Deserialize)]
struct Parcel;

#[idempotent(key = "order_id")]
async fn submit(order: Order) -> Result<Parcel, Error> {
    let _ = order;
    Ok(Parcel)
}

fn main() {}
