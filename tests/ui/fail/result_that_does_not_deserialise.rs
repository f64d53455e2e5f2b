use macro_ui::*;

#[derive(serde::Serialize)]
struct Parcel;

#[idempotent(key = "order_id")]
async fn submit(order: Order) -> Result<Vec<Parcel>, Error> {
    let _ = order;
    Ok(vec![Parcel])
}

fn main() {}
