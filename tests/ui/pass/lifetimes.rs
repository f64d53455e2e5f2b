use macro_ui::*;

struct Desk<'a> {
    client: &'a Client,
}

impl<'a> Desk<'a> {
    #[idempotent(key = "order_id", input = order)]
    async fn serve<'b>(&'b self, order: &'a Order, note: &'b str) -> Result<Receipt, Error>
    where
        'a: 'b,
    {
        let _ = (order, note);
        Ok(self.client.work())
    }
}

fn main() {
    let (client, order) = (Client::default(), order());
    let desk = Desk { client: &client };
    one_answer(desk.serve(&order, "first"), desk.serve(&order, "second"));
}
