// As `#[async_trait]` leaves it.
use macro_ui::*;
use std::pin::Pin;

struct Shop;

impl Shop {
    #[idempotent(key = "order_id")]
    fn sell<'a>(&'a self, order: Order) -> Pin<Box<dyn Future<Output = Result<Receipt, Error>> + Send + 'a>> {
        Box::pin(async move {
            let _ = order;
            Ok(work())
        })
    }
}

fn main() {}
