use macro_ui::*;

#[derive(serde::Serialize, serde::Deserialize)]
struct Parcel(u32);

#[idempotent(key = "order_id", in_progress = "skip")]
async fn submit(order: Order) -> Result<Parcel, Error> {
    let _ = order;
    Ok(Parcel(1))
}

fn main() {}
