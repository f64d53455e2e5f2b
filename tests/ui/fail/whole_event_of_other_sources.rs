use macro_ui::*;

mod events {
    pub struct KinesisEvent;
    pub struct DynamodbEvent;
    pub struct S3Event;
    pub struct SnsEvent;
}

#[idempotent(key = "Records[0].kinesis.data")]
async fn kinesis(event: LambdaEvent<Raw<events::KinesisEvent>>) -> Result<(), Error> {
    let _ = event;
    Ok(())
}

#[idempotent(key = "Records[0].dynamodb.Keys")]
async fn dynamodb(event: LambdaEvent<Raw<events::DynamodbEvent>>) -> Result<(), Error> {
    let _ = event;
    Ok(())
}

#[idempotent(key = "Records[0].s3.object.key")]
async fn s3(event: LambdaEvent<Raw<events::S3Event>>) -> Result<(), Error> {
    let _ = event;
    Ok(())
}

#[idempotent(key = "Records[0].Sns.Message")]
async fn sns(event: LambdaEvent<Raw<events::SnsEvent>>) -> Result<(), Error> {
    let _ = event;
    Ok(())
}

fn main() {}
