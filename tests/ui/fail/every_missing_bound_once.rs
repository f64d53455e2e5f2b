use macro_ui::*;

struct Parcel;
struct SubmitError;

#[idempotent(key = "id")]
async fn submit(client: Client) -> Result<Parcel, SubmitError> {
    let _ = client;
    Ok(Parcel)
}

fn main() {}
