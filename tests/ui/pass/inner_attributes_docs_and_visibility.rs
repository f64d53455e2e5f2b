#![deny(missing_docs, unused, clippy::all)]
//! Nothing is lost.
use macro_ui::*;

/// A module.
pub mod orders {
    use macro_ui::*;

    /// Documented.
    #[idempotent(key = "order_id")]
    pub(crate) async fn submit(order: Order) -> Result<Receipt, Error> {
        #![allow(unused_variables)]
        let unused = order;
        Ok(work())
    }
}

fn main() {
    one_answer(orders::submit(order()), orders::submit(order()));
}
