use lambda_idempotency::MemoryStore;
use macro_ui::*;
use std::sync::Arc;

struct Shop {
    client: Client,
    store: Arc<MemoryStore>,
    sold: usize,
}

impl Shop {
    const LIFE: std::time::Duration = std::time::Duration::from_secs(60);

    #[idempotent(key = "order_id", expires_after = Self::LIFE)]
    async fn look(&self, order: &Order) -> Result<Receipt, Error> {
        let _ = order;
        Ok(self.client.work())
    }

    #[idempotent(key = "order_id", store = self.store.clone())]
    async fn sell(&mut self, order: Order) -> Result<Receipt, Error> {
        let _ = order;
        self.sold += 1;
        Ok(self.client.work())
    }

    #[idempotent(key = "order_id", store = self.store.clone())]
    async fn close(self, order: Order) -> Result<Receipt, Error> {
        let _ = order;
        Ok(self.client.work())
    }

    #[idempotent(key = "order_id", store = self.store.clone(), name = "shop.shared")]
    async fn shared(self: Arc<Self>, order: Order) -> Result<Receipt, Error> {
        let _ = order;
        Ok(self.client.work())
    }
}

fn shop(store: &Arc<MemoryStore>) -> Shop {
    Shop { client: Client::default(), store: store.clone(), sold: 0 }
}

fn main() {
    let store = Arc::new(MemoryStore::new());
    let mut shop_of_one = shop(&store);
    let order = order();
    one_answer(shop_of_one.look(&order), shop_of_one.look(&order));
    for _ in 0..2 {
        assert_eq!(on(&store, shop_of_one.sell(order.clone())).expect("sold").run, 3 - 1);
    }
    assert_eq!(shop_of_one.sold, 1);
    assert_eq!(on(&store, shop_of_one.close(order.clone())).expect("closed").run, 3);
    let shop = Arc::new(shop(&store));
    assert_eq!(on(&store, shop.shared(order)).expect("shared").run, 1);
}
