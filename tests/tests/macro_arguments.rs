//! What the arguments of `#[idempotent]` do, and what their absence does.

use std::sync::Arc;
use std::time::Duration;

use lambda_idempotency::store::Record;
use lambda_idempotency::{Error, MemoryStore, RunError, Store, compute_id, idempotent};
use lambda_idempotency_tests::{Bench, NOW, TestResult, Work};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Payment {
    id: u32,
    order: u32,
}

const PAYMENT: Payment = Payment { id: 1, order: 77 };

/// The records of a memory store, by id.
fn records(bench: &Bench) -> Vec<Record> {
    let mut records = bench.memory_records();
    records.sort_by(|a, b| a.id.as_str().cmp(b.id.as_str()));
    records
}

/// The part of each id in front of the hash.
fn scopes(bench: &Bench) -> Vec<String> {
    records(bench).iter().map(|record| record.id.name().to_owned()).collect()
}

#[tokio::test]
async fn without_a_store_the_error_names_both_cures_and_nothing_runs() -> TestResult {
    #[idempotent(key = "id", input = payment, name = "payments.without_a_store")]
    async fn pay(payment: &Payment, work: &Work) -> Result<usize, Error> {
        Ok(work.run())
    }
    let work = Work::new();
    // Nothing is installed in this process, and no scope is set.
    let error = pay(&PAYMENT, &work).await.err().ok_or("it ran without a store")?;
    assert_eq!(error.name(), "Config");
    let message = error.to_string();
    assert!(message.contains("lambda_idempotency::install(store)"), "{message}");
    assert!(message.contains("#[idempotent(store = …)]"), "{message}");
    assert_eq!(work.runs(), 0);
    Ok(())
}

struct Payments {
    store: Arc<dyn Store>,
    work: Work,
}

impl Payments {
    #[idempotent(key = "id", store = self.store, name = "payments.charge")]
    async fn charge(&self, payment: &Payment) -> Result<usize, Error> {
        let _ = payment;
        Ok(self.work.run())
    }

    #[idempotent(key = "[who, payment.id]", input = json!({"who": who, "payment": payment}), store = self.store)]
    async fn refund(&self, who: &str, payment: Payment, note: &str) -> Result<usize, Error> {
        let _ = (who, payment, note);
        Ok(self.work.run())
    }
}

#[tokio::test]
async fn a_method_can_name_a_store_of_its_own() -> TestResult {
    let bench = Bench::memory();
    let own = Arc::new(MemoryStore::new());
    let payments = Payments { store: own.clone(), work: Work::new() };
    assert_eq!(bench.run(payments.charge(&PAYMENT)).await?, 1);
    assert_eq!(bench.run(payments.charge(&PAYMENT)).await?, 1);
    assert_eq!((own.records().len(), bench.count().await?), (1, 0));
    Ok(())
}

#[tokio::test]
async fn input_says_what_is_compared_and_what_is_not_in_it_is_not() -> TestResult {
    let own = Arc::new(MemoryStore::new());
    let payments = Payments { store: own.clone(), work: Work::new() };
    assert_eq!(payments.refund("ada", PAYMENT, "first").await?, 1);
    assert_eq!(payments.refund("ada", PAYMENT, "the note is not in it").await?, 1);
    assert_eq!(payments.refund("bob", PAYMENT, "another key").await?, 2);
    let edited = Payment { order: 78, ..PAYMENT };
    let mismatch = payments.refund("ada", edited, "other content").await;
    assert!(matches!(&mismatch, Err(error) if error.is_payload_mismatch()), "{mismatch:?}");
    Ok(())
}

mod checkout {
    use super::*;

    #[idempotent(key = "id")]
    pub(super) async fn pay(payment: Payment) -> Result<String, Error> {
        Ok(format!("checkout {}", payment.id))
    }
}

mod subscription {
    use super::*;

    #[idempotent(key = "id")]
    pub(super) async fn pay(payment: Payment) -> Result<String, Error> {
        Ok(format!("subscription {}", payment.id))
    }
}

#[tokio::test]
async fn two_functions_of_one_name_and_one_input_have_two_records() -> TestResult {
    let bench = Bench::memory();
    assert_eq!(bench.run(checkout::pay(PAYMENT)).await?, "checkout 1");
    assert_eq!(bench.run(subscription::pay(PAYMENT)).await?, "subscription 1");
    assert_eq!(bench.run(checkout::pay(PAYMENT)).await?, "checkout 1");
    let scopes = scopes(&bench);
    assert_eq!(scopes.len(), 2, "{scopes:?}");
    assert!(scopes[0].ends_with("macro_arguments::checkout::pay"), "{scopes:?}");
    assert!(scopes[1].ends_with("macro_arguments::subscription::pay"), "{scopes:?}");
    Ok(())
}

mod before {
    use super::*;

    #[idempotent(key = "id", name = "payments")]
    pub(super) async fn pay(payment: Payment) -> Result<String, Error> {
        Ok(format!("before {}", payment.id))
    }
}

mod after {
    use super::*;

    #[idempotent(key = "id", name = "payments")]
    pub(super) async fn pay_moved(payment: Payment) -> Result<String, Error> {
        Ok(format!("after {}", payment.id))
    }
}

#[tokio::test]
async fn with_a_name_a_moved_function_finds_its_records() -> TestResult {
    let bench = Bench::memory();
    assert_eq!(bench.run(before::pay(PAYMENT)).await?, "before 1");
    assert_eq!(bench.run(after::pay_moved(PAYMENT)).await?, "before 1");
    assert_eq!(scopes(&bench), ["payments"]);
    Ok(())
}

#[tokio::test]
async fn functions_that_share_a_store_keep_their_own_keys() -> TestResult {
    #[idempotent(key = "id", input = payment, name = "by-id")]
    async fn by_id(payment: &Payment, work: &Work) -> Result<usize, Error> {
        Ok(work.run())
    }
    #[idempotent(key = "\"order\"", input = payment, fingerprint = "none", name = "by-order")]
    async fn by_order(payment: &Payment, work: &Work) -> Result<usize, Error> {
        Ok(work.run())
    }
    let bench = Bench::memory();
    let (ids, orders) = (Work::new(), Work::new());
    for id in 0..10 {
        // Ten ids of two orders.
        let payment = Payment { id, order: id % 2 };
        for _ in 0..2 {
            bench.run(by_id(&payment, &ids)).await?;
            bench.run(by_order(&payment, &orders)).await?;
        }
    }
    assert_eq!((ids.runs(), orders.runs()), (10, 2));
    assert_eq!(bench.count().await?, 12);
    Ok(())
}

#[tokio::test]
async fn fingerprint_narrows_what_is_compared() -> TestResult {
    #[idempotent(key = "id", input = payment, fingerprint = "\"order\"", name = "narrow")]
    async fn narrow(payment: serde_json::Value, work: &Work) -> Result<usize, Error> {
        Ok(work.run())
    }
    let (bench, work) = (Bench::memory(), Work::new());
    let call = |payment| {
        bench.run({
            let work = work.clone();
            async move { narrow(payment, &work).await }
        })
    };
    assert_eq!(call(json!({"id": 1, "order": 7, "sent_at": "noon"})).await?, 1);
    assert_eq!(call(json!({"id": 1, "order": 7, "sent_at": "one"})).await?, 1);
    let edited = call(json!({"id": 1, "order": 8, "sent_at": "noon"})).await;
    assert!(matches!(&edited, Err(error) if error.is_payload_mismatch()), "{edited:?}");
    Ok(())
}

#[tokio::test]
async fn expires_after_counts_from_the_completion_and_a_day_is_the_default() -> TestResult {
    #[idempotent(key = "id", expires_after = "10s", name = "short")]
    async fn short(payment: Payment) -> Result<(), Error> {
        let _ = payment;
        Ok(())
    }
    #[idempotent(key = "id", expires_after = Duration::from_secs(3600 * 2), name = "expression")]
    async fn expression(payment: Payment) -> Result<(), Error> {
        let _ = payment;
        Ok(())
    }
    #[idempotent(key = "id", name = "unset")]
    async fn unset(payment: Payment) -> Result<(), Error> {
        let _ = payment;
        Ok(())
    }
    let bench = Bench::memory();
    bench.run(short(PAYMENT)).await?;
    bench.run(expression(PAYMENT)).await?;
    bench.run(unset(PAYMENT)).await?;
    let lives: Vec<(String, i64)> = records(&bench)
        .iter()
        .map(|record| (record.id.name().to_owned(), record.expiration.get() - NOW.floor_seconds().get()))
        .collect();
    // Each rounded up from a quarter past a second.
    assert_eq!(
        lives,
        [("expression".to_owned(), 7201), ("short".to_owned(), 11), ("unset".to_owned(), 86_401)]
    );
    Ok(())
}

#[tokio::test]
async fn a_missing_key_is_refused_before_the_function_and_the_store() -> TestResult {
    #[idempotent(key = "[order_id, version]", input = order, name = "orders")]
    async fn submit(order: &serde_json::Value, work: &Work) -> Result<usize, Error> {
        Ok(work.run())
    }
    let (bench, work) = (Bench::memory(), Work::new());
    for order in [json!({"order_id": 1}), json!({"order_id": 1, "version": ""}), json!({}), json!([])] {
        let refused = bench.run(submit(&order, &work)).await;
        let error = refused.err().ok_or_else(|| format!("it ran on {order}"))?;
        assert_eq!(error.name(), "MissingKey");
        let message = error.to_string();
        assert!(message.contains("orders") && message.contains("version"), "{message}");
    }
    // Zero and false are values.
    assert_eq!(bench.run(submit(&json!({"order_id": 0, "version": false}), &work)).await?, 1);
    assert_eq!((work.runs(), bench.count().await?), (1, 1));
    Ok(())
}

#[tokio::test]
async fn a_key_that_is_new_at_every_delivery_is_taken_when_that_is_said() -> TestResult {
    // The flag may stand anywhere.
    #[idempotent(key = "requestContext.requestId", allow_volatile_key, input = request, name = "per-request")]
    async fn flag(request: &serde_json::Value, work: &Work) -> Result<usize, Error> {
        Ok(work.run())
    }
    #[idempotent(allow_volatile_key = true, key = "requestContext", input = request, name = "per-context")]
    async fn value(request: &serde_json::Value, work: &Work) -> Result<usize, Error> {
        Ok(work.run())
    }
    let (bench, work) = (Bench::memory(), Work::new());
    let request = |id: &str| json!({"requestContext": {"requestId": id}, "order": 77});
    assert_eq!(bench.run(flag(&request("a"), &work)).await?, 1);
    assert_eq!(bench.run(flag(&request("a"), &work)).await?, 1);
    // The client's retry is another request, and so another piece of work.
    assert_eq!(bench.run(flag(&request("b"), &work)).await?, 2);
    assert_eq!(bench.run(value(&request("a"), &work)).await?, 3);
    assert_eq!(bench.run(value(&request("a"), &work)).await?, 3);
    // Support finds such a record as well.
    let id = compute_id("per-request", "requestContext.requestId", &request("b"))?;
    assert!(records(&bench).iter().any(|record| record.id == id));
    Ok(())
}

#[tokio::test]
async fn an_engine_and_an_annotated_function_of_one_name_share_their_records() -> TestResult {
    let bench = Bench::memory();
    let engine = bench.engine("payments", "id")?;
    assert_eq!(bench.run(before::pay(PAYMENT)).await?, "before 1");
    let replayed = engine.run(&PAYMENT, |_| async { Err::<String, _>(std::io::Error::other("it ran")) });
    assert_eq!(
        replayed.await.map_err(|error: RunError<_>| error.to_string())?.into_value().as_deref(),
        Some("before 1")
    );
    Ok(())
}
