//! Inputs that hold an event or a record as it came: several records are several pieces of work, and a value
//! that was changed beside its text says neither.

use lambda_idempotency::{Error, Raw, batch, idempotent};
use lambda_idempotency_tests::{Bench, TestResult, Work, sqs_event};
use lambda_runtime::{Context, LambdaEvent};
use serde_json::value::RawValue;
use serde_json::{Value, json};

const FIRST: &str = r#"{"order_id": 77}"#;
const SECOND: &str = r#"{"order_id": 78}"#;

#[idempotent(key = "powertools_json(Records[0].body).order_id", input = event.payload, name = "raw")]
async fn raw(event: LambdaEvent<Raw<Value>>, work: &Work) -> Result<usize, Error> {
    let _ = event;
    Ok(work.run())
}

#[idempotent(key = "powertools_json(Records[0].body).order_id", input = event.payload, name = "text")]
async fn text(event: LambdaEvent<Box<RawValue>>, work: &Work) -> Result<usize, Error> {
    let _ = event;
    Ok(work.run())
}

#[idempotent(key = "powertools_json(Records[0].body).order_id", input = payload, name = "value")]
async fn value(payload: &Value, work: &Work) -> Result<usize, Error> {
    Ok(work.run())
}

/// As all three, to the same work.
async fn delivered(bench: &Bench, event: &Value, work: &Work) -> Result<[Result<usize, Error>; 3], Error> {
    let context = Context::default;
    let bytes = RawValue::from_string(event.to_string())
        .map_err(|error| Error::Config { message: error.to_string() })?;
    Ok([
        bench.run(raw(LambdaEvent::new(Raw::from_value(event)?, context()), work)).await,
        bench.run(text(LambdaEvent::new(bytes, context()), work)).await,
        bench.run(value(event, work)).await,
    ])
}

#[tokio::test]
async fn an_event_of_several_records_is_refused_as_a_written_out_input_too() -> TestResult {
    let (bench, work) = (Bench::memory(), Work::new());
    let event = sqs_event(&[("message-1", FIRST), ("message-2", SECOND)]);
    for refused in delivered(&bench, &event, &work).await? {
        assert!(matches!(refused, Err(Error::SeveralRecords { count: 2, .. })), "{refused:?}");
    }
    assert_eq!((work.runs(), bench.count().await?), (0, 0));

    let event = sqs_event(&[("message-1", FIRST)]);
    for ran in delivered(&bench, &event, &work).await? {
        ran?;
    }
    assert_eq!(work.runs(), 3);
    Ok(())
}

/// An S3 notification of two objects.
fn notification() -> Value {
    let record = |key: &str| {
        json!({
            "eventVersion": "2.1", "eventSource": "aws:s3", "eventName": "ObjectCreated:Put",
            "eventTime": "2026-11-30T00:00:00.000Z",
            "s3": {
                "s3SchemaVersion": "1.0", "bucket": {"name": "videos"},
                "object": {"key": key, "eTag": "e", "sequencer": "1"},
            },
        })
    };
    json!({"Records": [record("a.mp4"), record("b.mp4")]})
}

#[tokio::test]
async fn one_message_is_one_piece_of_work_even_if_its_body_is_an_event_of_several_records() -> TestResult {
    #[idempotent(key = "Records[].s3.object.key", input = record, name = "record")]
    async fn by_record(record: &batch::Record<Value>, work: &Work) -> Result<usize, Error> {
        Ok(work.run())
    }
    #[idempotent(key = "Records[].s3.object.key", input = body, name = "body")]
    async fn by_body(body: &Raw<Value>, work: &Work) -> Result<usize, Error> {
        Ok(work.run())
    }
    let (bench, work) = (Bench::memory(), Work::new());
    // A record that a function's own loop made.
    let record = batch::Record::new("message-1", Raw::from_value(&notification())?);
    assert_eq!(bench.run(by_record(&record, &work)).await?, 1);

    // And one of a batch helper, also by its body.
    let event = sqs_event(&[("message-1", &notification().to_string())]);
    let event = LambdaEvent::new(serde_json::from_value(event)?, Context::default());
    let response = bench.run(batch::sqs(event, |record: batch::Record<Value>| {
        let work = work.clone();
        async move {
            by_record(&record, &work).await?;
            by_body(record.body(), &work).await
        }
    }));
    assert!(response.await?.batch_item_failures.is_empty());
    assert_eq!(work.runs(), 2);

    // Outside of a batch nobody knows that it is one record.
    let refused = bench.run(by_body(record.body(), &work)).await;
    assert!(matches!(refused, Err(Error::SeveralRecords { count: 2, .. })), "{refused:?}");
    Ok(())
}

#[idempotent(key = "order_id", name = "charge")]
async fn charge(order: &Raw<Value>) -> Result<u64, Error> {
    Ok(order["order_id"].as_u64().unwrap_or_default())
}

#[idempotent(key = "order_id", input = order, name = "submit")]
async fn submit(mut order: Raw<Value>, change: bool) -> Result<u64, Error> {
    if change {
        order["order_id"] = json!(78);
    }
    charge(&order).await
}

#[tokio::test]
async fn what_was_changed_since_its_text_was_captured_is_no_input() -> TestResult {
    let bench = Bench::memory();
    let order = Raw::<Value>::from_json(FIRST)?;
    let refused = bench.run(submit(order.clone(), true)).await;
    let message = match refused {
        Err(error @ Error::InvalidInput { .. }) => error.to_string(),
        other => return Err(format!("{other:?}").into()),
    };
    assert!(message.starts_with("charge: ") && message.contains("into_inner()"), "{message}");
    // Nothing was charged under the old order's id, and the outer key was given back.
    assert_eq!(bench.count().await?, 0);
    assert_eq!(bench.run(submit(order, false)).await?, 77);

    // Nor is it passed on with a text that says something else.
    let mut record = batch::Record::new("message-1", Raw::<Value>::from_json(FIRST)?);
    assert_eq!(serde_json::to_string(&record)?, FIRST);
    record["order_id"] = json!(78);
    assert!(serde_json::to_string(&record).is_err());
    assert_eq!(record.body().json(), FIRST);
    assert_eq!(record.into_inner(), json!({"order_id": 78}));
    Ok(())
}

#[idempotent(
    key = "powertools_json(powertools_base64(kinesis.data)).order_id",
    input = record,
    name = "streams.submit"
)]
async fn submit_record(record: &Value, work: &Work) -> Result<usize, Error> {
    match record["eventID"] == "fails" {
        true => Err(Error::Config { message: "of the function's own".to_owned() }),
        false => Ok(work.run()),
    }
}

/// The loop of `docs/keys.md`.
async fn stream(event: LambdaEvent<Value>, work: &Work) -> Value {
    for record in event.payload["Records"].as_array().into_iter().flatten() {
        if submit_record(record, work).await.is_err() {
            let number = &record["kinesis"]["sequenceNumber"];
            return json!({"batchItemFailures": [{"itemIdentifier": number}]});
        }
    }
    json!({"batchItemFailures": []})
}

#[tokio::test]
async fn a_stream_is_a_loop_over_its_records_that_stops_at_the_first_failure() -> TestResult {
    let record = |number: u32, id: &str, order: &str| {
        json!({
            "eventSource": "aws:kinesis", "eventSourceARN": "arn:aws:kinesis:eu-west-1:1:stream/s", "eventID": id,
            "eventName": "aws:kinesis:record", "awsRegion": "eu-west-1",
            "kinesis": {"partitionKey": "p", "sequenceNumber": number.to_string(), "data": order},
        })
    };
    // {"order_id":77}, {"order_id":78}, {"order_id":79}
    let orders = ["eyJvcmRlcl9pZCI6Nzd9", "eyJvcmRlcl9pZCI6Nzh9", "eyJvcmRlcl9pZCI6Nzl9"];
    let event = |second: &str| {
        let records = [record(1, "a", orders[0]), record(2, second, orders[1]), record(3, "c", orders[2])];
        LambdaEvent::new(json!({"Records": records}), Context::default())
    };
    let (bench, work) = (Bench::memory(), Work::new());
    let failed = bench.run(stream(event("fails"), &work)).await;
    assert_eq!(failed, json!({"batchItemFailures": [{"itemIdentifier": "2"}]}));
    assert_eq!(work.runs(), 1);
    // Delivered from the failure on, or as a whole: what is done is not done again.
    assert_eq!(bench.run(stream(event("b"), &work)).await, json!({"batchItemFailures": []}));
    assert_eq!(work.runs(), 3);
    Ok(())
}
