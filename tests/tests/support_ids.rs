//! Support finds a record under an installed secret and for a tenant. The secret is one for the process.

use lambda_idempotency::decide::Deadline;
use lambda_idempotency::{Error, Invocation, Secret, compute_id, idempotent, install_secret};
use lambda_idempotency_tests::{Bench, TestResult};
use serde_json::{Value, json};

#[idempotent(key = "[order_id, version]", input = order, name = "orders.submit")]
async fn submit(order: &Value) -> Result<u32, Error> {
    let _ = order;
    Ok(1)
}

#[tokio::test]
async fn support_computes_the_id_under_an_installed_secret_and_for_a_tenant() -> TestResult {
    let order = json!({"order_id": 77, "version": 3});
    let compute = || compute_id("orders.submit", "[order_id, version]", &order);
    let plain = compute()?;
    install_secret(Secret::new("sixteen bytes and more")?)?;
    let again = install_secret(Secret::new("another secret of enough")?).err().ok_or("installed twice")?;
    assert!(again.to_string().contains("install_secret"), "{again}");
    for tenant in [None, Some("a".to_owned()), Some("b".to_owned())] {
        let bench = Bench::memory();
        let invocation = Invocation::new(Deadline::Unset).tenant(tenant.clone());
        bench.run(invocation.clone().scope(submit(&order))).await?;
        let stored = bench.memory_records().remove(0).id;
        assert_ne!(stored, plain);
        assert_eq!(invocation.scope(async { compute() }).await?, stored);
        // Without the tenant it is another one.
        assert_eq!(compute()? == stored, tenant.is_none());
    }
    Ok(())
}
