// The body has the names of the user's module, and nothing of the expansion's.
#![allow(dead_code)]
use macro_ui::*;

struct Option;
struct Policy;
struct Store;
mod core {}
mod std {}
fn input() -> u64 {
    7
}

#[idempotent(key = "order_id", expires_after = "1h", wait = "1s", on_error = "release", name = "names")]
async fn submit(Order { order_id, .. }: Order) -> ::std::result::Result<u64, Error> {
    Ok(order_id + input())
}

fn main() {
    one_answer(submit(order()), submit(order()));
}
