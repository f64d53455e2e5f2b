use macro_ui::*;
use std::borrow::Cow;
use std::collections::HashMap;

#[idempotent(key = "@")]
async fn unit(number: u32) -> Result<(), Error> {
    let _ = number;
    Ok(())
}

#[idempotent(key = "@")]
async fn cow(number: u32) -> Result<Cow<'static, str>, Error> {
    Ok(if number == 1 { "one".into() } else { number.to_string().into() })
}

#[idempotent(key = "@")]
async fn nested(number: u32) -> Result<HashMap<String, Vec<Option<Receipt>>>, Error> {
    let _ = number;
    Ok(HashMap::from([("a".to_owned(), vec![None, Some(work())])]))
}

fn main() {
    one_answer(unit(1), unit(1));
    one_answer(cow(1), cow(1));
    one_answer(nested(1), nested(1));
}
