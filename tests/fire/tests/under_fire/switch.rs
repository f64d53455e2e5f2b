//! `IDEMPOTENCY_DISABLED` as a deployed function meets it.

use lambda_idempotency_tests::{TABLE, TestResult};
use loopback::{DynamoDb, Lambda, LambdaOptions, Provider, Proxy};
use under_fire::order;

use crate::{LONG, acknowledged, message, orders_binary};

async fn options(
    env: Vec<(String, String)>,
    switch: &str,
    provider: &Provider,
) -> Result<LambdaOptions, loopback::Error> {
    let mut options = LambdaOptions::new(orders_binary().await?, "orders");
    options.env = env;
    options.env.push(("IDEMPOTENCY_DISABLED".into(), switch.into()));
    options.env.push(("MODEL_PROVIDER_URL".into(), provider.url()));
    Ok(options)
}

/// How often the provider is called for an order that is delivered twice.
async fn calls(
    env: Vec<(String, String)>,
    switch: &str,
) -> Result<usize, Box<dyn std::error::Error + Send + Sync>> {
    let provider = Provider::start().await?;
    let lambda = Lambda::start(options(env, switch, &provider).await?).await?;
    for _ in 0..2 {
        assert!(acknowledged(lambda.invoke(message(&order(77)), LONG)).await, "{switch:?}");
    }
    let warned = lambda.lines().iter().any(|line| line.text.contains("nothing is protected"));
    assert_eq!(warned, provider.calls().len() == 2, "it is said loudly, and only then");
    lambda.stop().await;
    Ok(provider.calls().len())
}

#[tokio::test]
async fn a_switch_that_says_no_protects() -> TestResult {
    for switch in ["false", "0", ""] {
        let dynamo = DynamoDb::start().await?;
        dynamo.create_table(TABLE).await?;
        let mut env = dynamo.env();
        env.push(("IDEMPOTENCY_TABLE".into(), TABLE.into()));
        assert_eq!(calls(env, switch).await?, 1, "{switch:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_switch_that_says_yes_runs_every_delivery_without_aws() -> TestResult {
    for switch in ["true", "1"] {
        // No table, no credentials, no endpoint.
        assert_eq!(calls(Vec::new(), switch).await?, 2, "{switch:?}");

        // And where there is a table, it is not asked.
        let dynamo = DynamoDb::start().await?;
        let proxy = Proxy::start(dynamo.endpoint()).await?;
        let mut env = loopback::dynamo::env_for(&proxy.endpoint());
        env.push(("IDEMPOTENCY_TABLE".into(), TABLE.into()));
        assert_eq!(calls(env, switch).await?, 2, "{switch:?}");
        assert_eq!(proxy.operations(), [""; 0]);
    }
    Ok(())
}

#[tokio::test]
async fn a_switch_that_is_not_understood_does_not_start() -> TestResult {
    let provider = Provider::start().await?;
    let dynamo = DynamoDb::start().await?;
    let mut env = dynamo.env();
    env.push(("IDEMPOTENCY_TABLE".into(), TABLE.into()));
    let error = Lambda::start(options(env, "maybe", &provider).await?).await.err().ok_or("it started")?;
    let said = error.to_string();
    assert!(said.contains("IDEMPOTENCY_DISABLED is not understood"), "{said}");
    Ok(())
}
