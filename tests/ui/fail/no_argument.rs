use macro_ui::*;

struct Clock;

#[idempotent(key = "@")]
async fn tick() -> Result<(), Error> {
    Ok(())
}

impl Clock {
    #[idempotent(key = "@")]
    async fn tick(&self) -> Result<(), Error> {
        Ok(())
    }
}

fn main() {}
