//! The example with a table of its own, as real worker processes: the row and the answer agree.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
};
use lambda_idempotency_tests::{TABLE, TestResult, sqs_event};
use loopback::{Answer, DynamoDb, Lambda, LambdaOptions, Provider, build};

const ORDERS: &str = "orders";
const TIME: Duration = Duration::from_secs(30);

async fn create_orders(dynamo: &DynamoDb) -> TestResult {
    let id = AttributeDefinition::builder().attribute_name("order_id").attribute_type(ScalarAttributeType::N);
    let key = KeySchemaElement::builder().attribute_name("order_id").key_type(KeyType::Hash);
    dynamo
        .client()
        .create_table()
        .table_name(ORDERS)
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(id.build()?)
        .key_schema(key.build()?)
        .send()
        .await?;
    Ok(())
}

#[tokio::test]
async fn row_and_answer_are_written_together_and_an_older_version_is_refused() -> TestResult {
    let dynamo = DynamoDb::start().await?;
    dynamo.create_table(TABLE).await?;
    create_orders(&dynamo).await?;
    let provider = Provider::start().await?;
    let mut options =
        LambdaOptions::new(build::binary("transactional-order", &[]).await?, "transactional-order");
    options.env = dynamo.env();
    for (name, value) in
        [("IDEMPOTENCY_TABLE", TABLE), ("ORDERS_TABLE", ORDERS), ("MODEL_PROVIDER_URL", &provider.url())]
    {
        options.env.push((name.to_owned(), value.to_owned()));
    }
    let lambda = Lambda::start(options).await?;
    let deliver = |message: &str, version: u32| {
        let body = format!(r#"{{"order_id": 77, "version": {version}, "instruction": "15s teaser"}}"#);
        lambda.invoke(sqs_event(&[(message, &body)]).to_string(), TIME)
    };
    let acknowledged = |answer: &Answer| match answer {
        Answer::Response(response) => !response.contains("itemIdentifier"),
        other => panic!("{other:?}"),
    };

    assert!(acknowledged(&deliver("message-1", 2).result().await));
    assert!(acknowledged(&deliver("message-2", 2).result().await), "a duplicate is answered");
    assert_eq!(provider.calls_for("77", 2), 1);
    let row = || async {
        let rows = dynamo.items(ORDERS).await?;
        let text = |name: &str| rows[0].get(name).map(|value| format!("{value:?}")).unwrap_or_default();
        Ok::<_, loopback::Error>((rows.len(), text("version"), text("run_id")))
    };
    let version_2 = format!("{:?}", AttributeValue::N("2".into()));
    let after_first = row().await?;
    assert_eq!((after_first.0, after_first.1.as_str()), (1, version_2.as_str()));

    // A version that is older than the row's: paid for, but neither recorded as an answer nor in the row.
    assert!(!acknowledged(&deliver("message-3", 1).result().await));
    assert_eq!(row().await?, after_first);
    let refused = lambda.lines().iter().any(|line| line.text.contains("TransactionRefused"));
    assert!(refused, "the refusal is not logged");
    assert_eq!(dynamo.items(TABLE).await?.len(), 1, "the claim of the refused version is given back");
    lambda.stop().await;
    Ok(())
}
