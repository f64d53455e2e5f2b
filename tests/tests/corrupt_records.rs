//! Records that cannot be read: reported, left alone, and never taken for absent.

use std::io;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use lambda_idempotency::{Engine, Error, Outcome, RunError};
use lambda_idempotency_tests::{Bench, Item, NOW, ORDER_KEY, TABLE, TestResult, Work, order};

/// Attributes of a row, besides its id.
type Row = Vec<(&'static str, AttributeValue)>;

type Answer = Result<Outcome<usize>, RunError<io::Error>>;

fn s(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

fn n(number: impl ToString) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

fn null() -> AttributeValue {
    AttributeValue::Null(true)
}

/// An hour after NOW, and the end of a lease that is long over.
const LATER: i64 = 1_900_003_600;
const LONG_AGO_MS: i64 = 1_800_000_000_000;

struct Scene {
    bench: Bench,
    engine: Engine,
    id: String,
    work: Work,
}

impl Scene {
    async fn new() -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let bench = Bench::dynamodb().await?;
        let engine = bench.engine("orders.submit", ORDER_KEY)?;
        let id = engine.identify(&order())?.ok_or("no key")?.id().to_string();
        Ok(Self { bench, engine, id, work: Work::new() })
    }

    /// A row written by somebody else under the id of [`order`].
    async fn put(&self, attributes: &[(&str, AttributeValue)]) -> Result<Item, loopback::Error> {
        let mut item: Item =
            attributes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        item.insert("id".to_owned(), s(&self.id));
        self.bench.put(item.clone()).await?;
        Ok(item)
    }

    async fn submit(&self) -> Answer {
        self.engine.run(&order(), |_| async { Ok::<_, io::Error>(self.work.run()) }).await
    }
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_reported_and_left_alone() -> TestResult {
    let scene = Scene::new().await?;
    let live = ("expiration", n(LATER));
    let done = ("status", s("COMPLETED"));
    let busy = ("status", s("INPROGRESS"));
    let data = ("data", s("1"));
    let over = ("in_progress_expiration", n(LONG_AGO_MS));
    let bytes = AttributeValue::B(vec![1].into());
    let ahead = ("in_progress_expiration", n(NOW.get() + 5000));
    // What is wrong, the attribute that is to be named, the row.
    let rows: Vec<(&str, &str, Row)> = vec![
        ("no expiration", "expiration", vec![done.clone(), data.clone()]),
        ("no expiration, lease over", "expiration", vec![busy.clone(), over.clone()]),
        ("expiration as text", "expiration", vec![("expiration", s("1")), done.clone(), data.clone()]),
        (
            "expiration as text, lease over",
            "expiration",
            vec![("expiration", s("1")), busy.clone(), over.clone()],
        ),
        ("expiration as NULL", "expiration", vec![("expiration", null()), done.clone(), data.clone()]),
        ("expiration with a fraction", "expiration", vec![("expiration", n("1900003600.5")), done.clone()]),
        ("no status", "status", vec![live.clone(), data.clone()]),
        ("status as NULL", "status", vec![live.clone(), ("status", null()), data.clone()]),
        ("unknown status", "status", vec![live.clone(), ("status", s("DONE")), data.clone()]),
        ("status in other letters", "status", vec![live.clone(), ("status", s("completed")), data.clone()]),
        ("status EXPIRED", "status", vec![live.clone(), ("status", s("EXPIRED")), data.clone()]),
        (
            "validation as a number",
            "validation",
            vec![live.clone(), done.clone(), data.clone(), ("validation", n(1))],
        ),
        (
            "validation as NULL",
            "validation",
            vec![live.clone(), done.clone(), data.clone(), ("validation", null())],
        ),
        (
            "validation, lease over",
            "validation",
            vec![live.clone(), busy.clone(), over.clone(), ("validation", n(1))],
        ),
        ("owner as a number", "owner", vec![live.clone(), busy.clone(), ahead.clone(), ("owner", n(1))]),
        (
            "owner as NULL, lease over",
            "owner",
            vec![live.clone(), busy.clone(), over.clone(), ("owner", null())],
        ),
        (
            "lease as text",
            "in_progress_expiration",
            vec![live.clone(), busy.clone(), ("in_progress_expiration", s("1"))],
        ),
        (
            "lease as NULL",
            "in_progress_expiration",
            vec![live.clone(), busy.clone(), ("in_progress_expiration", null())],
        ),
        ("deadline as text, lease over", "deadline", vec![live.clone(), busy, over, ("deadline", s("1"))]),
        (
            "data as a set",
            "data",
            vec![live.clone(), done.clone(), ("data", AttributeValue::Ss(vec!["a".into()]))],
        ),
        (
            "data as bytes in a map",
            "data",
            vec![live.clone(), done.clone(), ("data", AttributeValue::M(Item::from([("a".into(), bytes)])))],
        ),
        ("encoding as a number", "encoding", vec![live, done, data, ("encoding", n(1))]),
    ];
    for (what, attribute, row) in rows {
        let item = scene.put(&row).await?;
        let answer = scene.submit().await;
        let Err(RunError::Idempotency(error)) = answer else { panic!("{what}: {answer:?}") };
        assert_eq!(error.name(), "CorruptRecord", "{what}: {error}");
        let message = error.to_string();
        for part in [attribute, TABLE, &scene.id, "by hand"] {
            assert!(message.contains(part), "{what}: `{part}` is not in: {message}");
        }
        assert!(!error.is_retryable(), "{what}");
        assert_eq!(scene.bench.only_item().await?, item, "{what}");
    }
    assert_eq!(scene.work.runs(), 0);
    let operations = scene.bench.proxy().operations();
    assert!(operations.iter().all(|operation| operation == "PutItem"), "{operations:?}");
    Ok(())
}

#[tokio::test]
async fn an_expired_record_is_replaced_unread_whatever_it_is() -> TestResult {
    let scene = Scene::new().await?;
    let expired = ("expiration", n(NOW.floor_seconds().get() - 1));
    let rows = [
        vec![("status", null()), ("data", n(1))],
        vec![("validation", n(1)), ("owner", null())],
        vec![("status", s("INPROGRESS")), ("in_progress_expiration", s("never"))],
        vec![],
    ];
    for (runs, row) in rows.into_iter().enumerate() {
        scene.put(&[row, vec![expired.clone()]].concat()).await?;
        assert_eq!(scene.submit().await?, Outcome::Executed(runs + 1));
    }
    Ok(())
}

#[tokio::test]
async fn a_claim_without_a_lease_end_holds_until_it_expires() -> TestResult {
    let scene = Scene::new().await?;
    scene.put(&[("expiration", n(LATER)), ("status", s("INPROGRESS"))]).await?;

    for _ in 0..2 {
        match scene.submit().await {
            Err(RunError::Idempotency(Error::AlreadyInProgress { retry_at, .. })) => {
                assert_eq!(retry_at.get(), (LATER + 1) * 1000);
                scene.bench.clock.set(retry_at.minus(Duration::from_millis(1)));
            }
            other => panic!("{other:?}"),
        }
    }
    scene.bench.clock.advance(Duration::from_millis(1));
    assert_eq!(scene.submit().await?, Outcome::Executed(1));
    Ok(())
}

#[tokio::test]
async fn a_claim_of_another_writer_holds_until_its_lease_ends() -> TestResult {
    let scene = Scene::new().await?;
    // As the Powertools for other languages write it: no owner, no fingerprint.
    let lease_end = NOW.get() + 5_000;
    let claim =
        [("expiration", n(LATER)), ("status", s("INPROGRESS")), ("in_progress_expiration", n(lease_end))];
    scene.put(&claim).await?;
    let busy = scene.submit().await;
    assert!(matches!(&busy, Err(RunError::Idempotency(error)) if error.is_already_in_progress()), "{busy:?}");
    scene.bench.clock.advance(Duration::from_millis(5_000 + 2_000 + 1));
    assert_eq!(scene.submit().await?, Outcome::Executed(1));
    Ok(())
}

#[tokio::test]
async fn the_status_alone_says_that_work_is_done() -> TestResult {
    let scene = Scene::new().await?;
    scene.put(&[("expiration", n(LATER)), ("status", s("COMPLETED"))]).await?;
    let nothing = async || {
        scene.work.run();
        Ok::<(), io::Error>(())
    };
    assert!(scene.engine.run(&order(), |_| nothing()).await?.is_replayed());
    // Of a final record the lease is not looked at.
    let leased = [
        ("expiration", n(LATER)),
        ("status", s("COMPLETED")),
        ("in_progress_expiration", null()),
        ("data", s("7")),
    ];
    scene.put(&leased).await?;
    assert_eq!(scene.submit().await?.into_value(), Some(7));
    assert_eq!(scene.work.runs(), 0);
    Ok(())
}

#[tokio::test]
async fn a_result_of_another_shape_is_neither_run_again_nor_deleted() -> TestResult {
    let scene = Scene::new().await?;
    for data in [r#""text, no number""#, "{", "-1", "null", ""] {
        let item =
            scene.put(&[("expiration", n(LATER)), ("status", s("COMPLETED")), ("data", s(data))]).await?;
        let answer = scene.submit().await;
        let Err(RunError::Idempotency(error)) = answer else { panic!("{data}: {answer:?}") };
        assert_eq!(error.name(), "ReplayDecode", "{data}");
        assert!(error.to_string().contains("usize"), "{error}");
        assert_eq!(scene.bench.only_item().await?, item);
    }
    assert_eq!(scene.work.runs(), 0);
    Ok(())
}
