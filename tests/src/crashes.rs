//! A worker that dies at each point of a transactional completion, on any DynamoDB.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem, Update};
use lambda_idempotency::dynamodb::Writes;
use lambda_idempotency::testing::ManualClock;
use lambda_idempotency::{Attempt, DynamoDbStore, Engine, Key, Outcome, RunError};
use loopback::{Fault, Proxy};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{NOW, PATIENCE, TestResult, client, name_of};

const COMMIT: &str = "TransactWriteItems";

/// Where it dies, and whether its last request arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Point {
    Claiming { arrives: bool },
    Working,
    Committing { arrives: bool },
}

const POINTS: [Point; 5] = [
    Point::Claiming { arrives: false },
    Point::Claiming { arrives: true },
    Point::Working,
    Point::Committing { arrives: false },
    Point::Committing { arrives: true },
];

/// One more submission in the order's row, next to the record: a write that shows when it is applied twice.
fn submission(table: &str, order: &Value) -> Result<Writes, io::Error> {
    let update = Update::builder()
        .table_name(table)
        .key("id", row_key(order))
        .update_expression("ADD submissions :one")
        .expression_attribute_values(":one", AttributeValue::N("1".into()))
        .build()
        .map_err(io::Error::other)?;
    Writes::new([TransactWriteItem::builder().update(update).build()]).map_err(io::Error::other)
}

fn row_key(order: &Value) -> AttributeValue {
    AttributeValue::S(format!("order-{}", order["order_id"]))
}

async fn submissions(
    table: &Client,
    name: &str,
    order: &Value,
) -> Result<usize, Box<dyn std::error::Error + Send + Sync>> {
    let row =
        table.get_item().table_name(name).key("id", row_key(order)).consistent_read(true).send().await?;
    let count = row.item().and_then(|row| row.get("submissions")).and_then(|count| count.as_n().ok());
    Ok(count.map_or(Ok(0), |count| count.parse())?)
}

/// At each point: result and writes are both there or neither, the next delivery is blocked by nothing but the
/// dead worker's lease, and in the end there is one answer and one submission.
///
/// # Errors
/// When a part does not answer.
///
/// # Panics
/// When the promise is broken.
pub async fn a_crash_at_each_point_leaves_both_or_neither(endpoint: &str, table: &str) -> TestResult {
    for (number, point) in (1_u64..).zip(POINTS) {
        let direct = client(endpoint);
        let proxy = Proxy::start(endpoint).await?;
        let clock = Arc::new(ManualClock::at(NOW));
        let engine = Engine::new(
            "crashes",
            DynamoDbStore::new(client(&proxy.endpoint()), table),
            Key::parse("order_id")?,
        )?
        .clock(clock.clone());
        let order = json!({"order_id": number});
        let began = Notify::new();
        let run = |id: &'static str, dies_at_work: bool| {
            let (engine, order, began) = (&engine, &order, &began);
            async move {
                let work = |attempt: Attempt| async move {
                    attempt.commit_with(submission(table, order)?).map_err(io::Error::other)?;
                    if dies_at_work {
                        began.notify_one();
                        std::future::pending::<()>().await;
                    }
                    Ok(id.to_owned())
                };
                let ran: Result<Outcome<String>, RunError<io::Error>> = engine.run(order, work).await;
                ran
            }
        };

        let (last, arrives) = match point {
            Point::Claiming { arrives } => ("PutItem", arrives),
            Point::Working => ("PutItem", true),
            Point::Committing { arrives } => (COMMIT, arrives),
        };
        // It dies when nothing can come of it any more: at the request that is lost, at the resend of one that
        // arrived, or in the middle of its work.
        let dies_at = match (point, arrives) {
            (Point::Working, _) => None,
            (_, false) => Some(1),
            (_, true) => {
                proxy.fault_next(last, Fault::DropReplyAfterApply);
                Some(2)
            }
        };
        if dies_at.is_some() {
            proxy.fault_always(last, Fault::BlackHole);
        }
        let death = async {
            match dies_at {
                Some(count) => proxy.wait_for(last, count, PATIENCE).await,
                None => {
                    began.notified().await;
                    Ok(())
                }
            }
        };
        tokio::select! {
            ended = run("run-of-the-dead", point == Point::Working) => panic!("{point:?}: {ended:?}"),
            dead = death => dead?,
        }
        proxy.heal();

        let is_committed = point == Point::Committing { arrives: true };
        assert_eq!(submissions(&direct, table, &order).await?, usize::from(is_committed), "{point:?}");
        let at_once = run("run-2", false).await;
        let expected = match point {
            Point::Claiming { arrives: false } => "Executed",
            Point::Committing { arrives: true } => "Replayed",
            _ => "AlreadyInProgress",
        };
        assert_eq!(name_of(&at_once), expected, "{point:?}: {at_once:?}");
        // No deadline is known: 15 minutes, and the margin.
        clock.advance(Duration::from_secs(903));
        let after_the_lease = run("run-3", false).await?.into_value();
        assert_eq!(submissions(&direct, table, &order).await?, 1, "{point:?}");
        if let Ok(answer) = at_once {
            assert_eq!(answer.into_value(), after_the_lease, "{point:?}");
        }
        if is_committed {
            assert_eq!(after_the_lease.as_deref(), Some("run-of-the-dead"));
        }
        assert_eq!(run("run-4", false).await?.into_value(), after_the_lease, "{point:?}");
        assert_eq!(submissions(&direct, table, &order).await?, 1, "{point:?}");
    }
    Ok(())
}
