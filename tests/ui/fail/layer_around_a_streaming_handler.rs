use lambda_idempotency::{IdempotencyLayer, Key, MemoryStore, Policy};
use lambda_runtime::{StreamResponse, run, streaming, tower::ServiceBuilder};
use macro_ui::*;

async fn handler(_: LambdaEvent<Order>) -> Result<StreamResponse<streaming::Body>, Error> {
    todo!()
}

fn main() {
    let key = Key::parse("order_id").expect("a key");
    let layer = IdempotencyLayer::new(MemoryStore::new(), key, Policy::new()).expect("a layer");
    drop(run(ServiceBuilder::new().layer(layer).service_fn(handler)));
}
