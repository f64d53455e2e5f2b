use macro_ui::*;
use lambda_idempotency::MemoryStore;
use std::sync::Arc;

struct Checkout;
struct Subscription<T>(T);

impl Checkout {
    #[idempotent(key = "order_id")]
    async fn pay(&self, order: &Order) -> Result<String, Error> {
        Ok(format!("checkout {}", order.order_id))
    }
}

impl<T> Subscription<T> {
    #[idempotent(key = "order_id")]
    async fn pay(&self, order: &Order) -> Result<String, Error> {
        let _ = &self.0;
        Ok(format!("subscription {}", order.order_id))
    }
}

fn main() {
    let (store, order) = (Arc::new(MemoryStore::new()), order());
    assert_eq!(on(&store, Checkout.pay(&order)).expect("paid"), "checkout 77");
    assert_eq!(on(&store, Subscription(()).pay(&order)).expect("paid"), "subscription 77");
    // One name for all parameters of a type.
    assert_eq!(on(&store, Subscription("x").pay(&order)).expect("paid"), "subscription 77");
    let mut names: Vec<_> = store.records().iter().map(|record| record.id.name().to_owned()).collect();
    names.sort();
    assert!(names[0].ends_with("::Checkout::pay") && names[1].ends_with("::Subscription::pay"), "{names:?}");
    assert_eq!(names.len(), 2);
}
