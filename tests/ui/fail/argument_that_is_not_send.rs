// The future is as `Send` as that of the function without the attribute.
use macro_ui::*;
use std::rc::Rc;

#[idempotent(key = "order_id", input = order)]
async fn submit(order: Order, shared: Rc<()>) -> Result<Receipt, Error> {
    tokio::task::yield_now().await;
    drop((order, shared));
    Ok(work())
}

fn main() {
    fn send<T: Send>(_: T) {}
    send(submit(order(), Rc::new(())));
}
