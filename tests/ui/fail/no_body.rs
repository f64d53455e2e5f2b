use macro_ui::*;

#[allow(async_fn_in_trait)]
trait Pay {
    #[idempotent(key = "order_id")]
    async fn pay(&self, order: Order) -> Result<Receipt, Error>;
}

fn main() {}
