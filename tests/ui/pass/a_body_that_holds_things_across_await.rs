use macro_ui::*;
use tokio::sync::Mutex;

#[idempotent(key = "order_id", input = order)]
async fn submit(order: &Order, log: &Mutex<Vec<u64>>) -> Result<usize, Error> {
    let mut log = log.lock().await;
    tokio::task::yield_now().await;
    log.push(order.order_id);
    Ok(log.len())
}

fn main() {
    let (order, log) = (order(), Mutex::default());
    one_answer(submit(&order, &log), submit(&order, &log));
}
