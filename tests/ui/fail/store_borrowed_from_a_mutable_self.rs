use lambda_idempotency::MemoryStore;
use macro_ui::*;
use std::sync::Arc;

struct Shop {
    store: Arc<MemoryStore>,
    sold: usize,
}

impl Shop {
    // The cure is `self.store.clone()`.
    #[idempotent(key = "order_id", store = self.store)]
    async fn sell(&mut self, order: Order) -> Result<(), Error> {
        let _ = order;
        self.sold += 1;
        Ok(())
    }
}

fn main() {}
