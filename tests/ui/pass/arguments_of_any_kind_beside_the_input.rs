// Neither `Clone` nor `Serialize` is asked of what is not the input.
use macro_ui::*;

struct Budget {
    left: u32,
}

#[idempotent(key = "order_id", input = order)]
async fn submit(client: &Client, order: Order, budget: &mut Budget, on_done: Box<dyn FnOnce() + Send>) -> Result<Receipt, Error> {
    budget.left -= order.version;
    on_done();
    Ok(client.work())
}

fn main() {
    let client = Client::default();
    let (mut one, mut two) = (Budget { left: 3 }, Budget { left: 3 });
    one_answer(
        submit(&client, order(), &mut one, Box::new(|| ())),
        submit(&client, order(), &mut two, Box::new(|| ())),
    );
    assert_eq!((one.left, two.left), (0, 3));
}
