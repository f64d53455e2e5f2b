use macro_ui::*;

#[idempotent(key = "order_id")]
struct Worker;

#[idempotent(key = "order_id")]
mod worker {}

fn main() {}
