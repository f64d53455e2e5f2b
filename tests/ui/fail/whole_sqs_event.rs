use aws_lambda_events::sqs::SqsEvent;
use macro_ui::*;

#[idempotent(key = "Records[0].body")]
async fn raw(event: LambdaEvent<Raw<SqsEvent>>) -> Result<(), Error> {
    let _ = event;
    Ok(())
}

#[idempotent(key = "Records[0].body")]
async fn parsed(event: LambdaEvent<aws_lambda_events::sqs::SqsEvent>) -> Result<(), Error> {
    let _ = event;
    Ok(())
}

#[idempotent(key = "Records[0].body")]
async fn alone(event: &SqsEvent) -> Result<(), Error> {
    let _ = event;
    Ok(())
}

fn main() {}
