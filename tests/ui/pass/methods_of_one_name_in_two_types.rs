use macro_ui::*;
use lambda_idempotency::MemoryStore;
use std::sync::Arc;

struct Checkout;
struct Subscription;
struct Rental<T>(T);

impl Checkout {
    #[idempotent(key = "order_id")]
    async fn pay(&self, order: &Order) -> Result<String, Error> {
        Ok(format!("checkout {}", order.order_id))
    }
}

impl Subscription {
    #[idempotent(key = "order_id")]
    async fn pay(&self, order: &Order) -> Result<String, Error> {
        Ok(format!("subscription {}", order.order_id))
    }
}

impl<T> Rental<T> {
    #[idempotent(key = "order_id")]
    async fn pay(&self, order: &Order) -> Result<String, Error> {
        let _ = (&self.0, order);
        Ok("rental".to_owned())
    }
}

fn main() {
    let (store, order) = (Arc::new(MemoryStore::new()), order());
    assert_eq!(on(&store, Checkout.pay(&order)).expect("paid"), "checkout 77");
    assert_eq!(on(&store, Subscription.pay(&order)).expect("paid"), "subscription 77");
    // One name for all parameters of a type would be a guess.
    let error = on(&store, Rental(()).pay(&order)).expect_err("it took a name").to_string();
    assert!(error.contains("Rental") && error.contains("name = "), "{error}");
    let mut names: Vec<_> = store.records().iter().map(|record| record.id.name().to_owned()).collect();
    names.sort();
    assert!(names[0].ends_with("::Checkout::pay") && names[1].ends_with("::Subscription::pay"), "{names:?}");
    assert_eq!(names.len(), 2);
}
