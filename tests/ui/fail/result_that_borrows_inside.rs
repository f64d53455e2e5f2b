use macro_ui::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct View<'a> {
    text: &'a str,
}

#[idempotent(key = "@")]
async fn view(text: &str) -> Result<View<'_>, Error> {
    Ok(View { text })
}

fn main() {}
