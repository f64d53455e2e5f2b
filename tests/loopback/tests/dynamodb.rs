//! DynamoDB and the proxy in front of it, through the real client.

use std::time::{Duration, Instant};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::{DisplayErrorContext, SdkError};
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};
use loopback::{DynamoDb, Error, Fault, Proxy, dynamo};

const LONG: Duration = Duration::from_secs(30);

async fn parts() -> (DynamoDb, Proxy, Client) {
    let dynamo = DynamoDb::start().await.expect("it starts");
    dynamo.create_table("records").await.expect("a table");
    let proxy = Proxy::start(dynamo.endpoint()).await.expect("it starts");
    let client = dynamo::client_for(&proxy.endpoint());
    (dynamo, proxy, client)
}

/// Claims an id.
async fn put(client: &Client, id: &str) -> Result<(), SdkError<PutItemError>> {
    let request = client
        .put_item()
        .table_name("records")
        .item("id", AttributeValue::S(id.to_owned()))
        .condition_expression("attribute_not_exists(id)")
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
    request.send().await.map(drop)
}

async fn count(dynamo: &DynamoDb) -> usize {
    dynamo.items("records").await.expect("a scan").len()
}

fn old_item(result: Result<(), SdkError<PutItemError>>) -> bool {
    match result.expect_err("the condition fails").into_service_error() {
        PutItemError::ConditionalCheckFailedException(failed) => failed.item().is_some(),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn requests_are_passed_on_and_recorded() {
    let (dynamo, proxy, client) = parts().await;
    put(&client, "a").await.expect("the first");
    assert!(old_item(put(&client, "a").await));
    let log = proxy.log();
    assert_eq!(proxy.operations(), ["PutItem", "PutItem"]);
    assert_eq!((log[0].status, log[1].status), (Some(200), Some(400)));
    assert_eq!(log[0].body["Item"]["id"]["S"], "a");
    assert_eq!(count(&dynamo).await, 1);
    proxy.clear();
    assert!(proxy.log().is_empty());
}

#[tokio::test]
async fn an_error_is_answered_as_often_as_told() {
    let (dynamo, proxy, client) = parts().await;
    proxy.fault_times("PutItem", 2, Fault::error("AccessDeniedException", "no dynamodb:PutItem"));
    for _ in 0..2 {
        let error = put(&client, "a").await.expect_err("refused");
        let text = DisplayErrorContext(&error).to_string();
        assert!(text.contains("AccessDeniedException") && text.contains("no dynamodb:PutItem"), "{text}");
    }
    assert_eq!(count(&dynamo).await, 0);
    put(&client, "a").await.expect("healed by itself");
    proxy.fault_always("PutItem", Fault::error("ThrottlingException", "slow down"));
    put(&client, "b").await.expect_err("refused");
    put(&client, "b").await.expect_err("refused");
    client
        .get_item()
        .table_name("records")
        .key("id", AttributeValue::S("a".into()))
        .send()
        .await
        .expect("read");
    proxy.heal();
    put(&client, "b").await.expect("healed");
}

#[tokio::test]
async fn a_lost_reply_is_applied_once_and_a_lost_request_is_not() {
    let (dynamo, proxy, client) = parts().await;
    proxy.fault_next("PutItem", Fault::DropReplyAfterApply);
    proxy.fault_next("PutItem", Fault::DropBefore);
    let lost = put(&client, "a").await.expect_err("no reply");
    assert!(matches!(lost, SdkError::DispatchFailure(_)), "{lost:?}");
    assert_eq!(count(&dynamo).await, 1, "applied all the same");
    put(&client, "b").await.expect_err("never arrived");
    assert_eq!(count(&dynamo).await, 1);
    let log = proxy.log();
    assert_eq!(log.iter().map(|logged| logged.status).collect::<Vec<_>>(), [None, None]);
}

#[tokio::test]
async fn replies_can_be_late_or_never_come() {
    let (_dynamo, proxy, client) = parts().await;
    let late = Duration::from_millis(100);
    proxy.fault_next("PutItem", Fault::Delay(late));
    let start = Instant::now();
    put(&client, "a").await.expect("late, but well");
    assert!(start.elapsed() >= late);
    proxy.fault_next("PutItem", Fault::BlackHole);
    let waiting = tokio::spawn(async move { put(&client, "b").await });
    proxy.wait_for("PutItem", 2, LONG).await.expect("it arrives");
    assert!(!waiting.is_finished());
    waiting.abort();
    let nothing = proxy.wait_for("GetItem", 1, Duration::from_millis(10)).await;
    assert!(matches!(nothing, Err(Error::TimedOut { .. })), "{nothing:?}");
}

#[tokio::test]
async fn a_held_request_is_applied_when_it_is_let_go() {
    let (dynamo, proxy, client) = parts().await;
    let held = proxy.hold_next("PutItem");
    let other = client.clone();
    let waiting = tokio::spawn(async move { put(&other, "a").await });
    assert_eq!(held.arrived().await.expect("it comes").body["Item"]["id"]["S"], "a");
    assert_eq!(count(&dynamo).await, 0);
    put(&client, "b").await.expect("only one is held");
    held.answer();
    waiting.await.expect("it ends").expect("applied");
    assert_eq!(count(&dynamo).await, 2);
}

#[tokio::test]
async fn the_old_item_can_be_withheld() {
    let (_dynamo, proxy, client) = parts().await;
    proxy.fault_always("PutItem", Fault::StripOldItem);
    put(&client, "a").await.expect("the first");
    assert!(!old_item(put(&client, "a").await));
    proxy.heal();
    assert!(old_item(put(&client, "a").await));
}

#[tokio::test]
async fn sixty_four_claims_through_the_proxy_have_one_winner() {
    let (_dynamo, proxy, client) = parts().await;
    let claims: Vec<_> = (0..64)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { put(&client, "a").await.is_ok() })
        })
        .collect();
    let mut winners = 0;
    for claim in claims {
        winners += usize::from(claim.await.expect("it ends"));
    }
    assert_eq!(winners, 1);
    assert_eq!(proxy.log().iter().filter(|logged| logged.status == Some(400)).count(), 63);
}

#[tokio::test]
async fn a_stopped_database_refuses_connections() {
    let dynamo = DynamoDb::start().await.expect("it starts");
    dynamo.create_table_with_keys("other", &["pk"]).await.expect("a table");
    let (client, endpoint) = (dynamo.client(), dynamo.endpoint().to_owned());
    client.describe_table().table_name("other").send().await.expect("it is there");
    let proxy = Proxy::start(&endpoint).await.expect("it starts");
    dynamo.stop().await;
    put(&client, "a").await.expect_err("nobody there");
    put(&dynamo::client_for(&proxy.endpoint()), "a").await.expect_err("nobody there");
    assert_eq!(proxy.log()[0].status, Some(502));
}
