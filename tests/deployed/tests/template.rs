//! What the linters cannot know: that the template and the library agree, and that its numbers do.

use deployed::{Template, TestResult};
use lambda_idempotency::dynamodb::AttributeNames;
use serde_yaml_ng::Value;

/// YAML as a value, for comparison.
fn yaml(text: &str) -> Value {
    serde_yaml_ng::from_str(text).expect("YAML")
}

#[test]
fn the_table_is_the_one_that_the_code_expects() -> TestResult {
    let template = Template::read()?;
    let table = template.at("Resources.IdempotencyTable.Properties");
    let names = AttributeNames::default();
    assert_eq!(table["TimeToLiveSpecification"]["AttributeName"], names.expiration.as_str());
    assert_eq!(table["TimeToLiveSpecification"]["Enabled"], true);
    assert_eq!(table["KeySchema"], yaml(&format!("[{{ AttributeName: {}, KeyType: HASH }}]", names.id)));
    assert_eq!(
        table["AttributeDefinitions"],
        yaml(&format!("[{{ AttributeName: {}, AttributeType: S }}]", names.id))
    );
    assert_eq!(table["BillingMode"], "PAY_PER_REQUEST");
    Ok(())
}

#[test]
fn records_survive_accidents() -> TestResult {
    let template = Template::read()?;
    let table = template.at("Resources.IdempotencyTable");
    assert_eq!(table["Properties"]["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"], true);
    assert_eq!(table["Properties"]["SSESpecification"]["SSEEnabled"], true);
    assert_eq!(table["DeletionPolicy"], "RetainExceptOnCreate");
    assert_eq!(table["UpdateReplacePolicy"], "Retain");
    Ok(())
}

#[test]
fn the_function_may_do_four_things_with_one_table() -> TestResult {
    let template = Template::read()?;
    let role = template.at("Resources.OrdersRole.Properties");
    assert_eq!(template.at("Resources.OrdersFunction.Properties.Role"), &yaml("!GetAtt OrdersRole.Arn"));
    assert!(role.get("ManagedPolicyArns").is_none());
    let policies = role["Policies"].as_sequence().expect("policies");
    assert_eq!(policies.len(), 1);
    let statements = policies[0]["PolicyDocument"]["Statement"].as_sequence().expect("statements");

    let service = |statement: &Value, name: &str| {
        let actions = statement["Action"].as_sequence().expect("actions");
        actions.iter().any(|action| action.as_str().expect("an action").starts_with(name))
    };
    let on_tables: Vec<_> = statements.iter().filter(|one| service(one, "dynamodb:")).collect();
    assert_eq!(on_tables.len(), 1);
    let mut actions: Vec<_> =
        on_tables[0]["Action"].as_sequence().into_iter().flatten().filter_map(Value::as_str).collect();
    actions.sort_unstable();
    assert_eq!(
        actions,
        ["dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]
    );
    let table = "!If [MakesTable, !GetAtt IdempotencyTable.Arn, \
                 !Sub 'arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${ExistingTable}']";
    assert_eq!(on_tables[0]["Resource"], yaml(table));

    for statement in statements {
        let said = serde_yaml_ng::to_string(statement)?;
        assert!(!said.contains('*'), "no right on everything:\n{said}");
    }
    Ok(())
}

#[test]
fn a_message_is_hidden_six_times_as_long_as_the_function_may_run() -> TestResult {
    let template = Template::read()?;
    let timeouts = template.timeouts();
    for (timeout, visibility) in &timeouts {
        assert!(*visibility >= 6 * timeout, "{visibility} s for {timeout} s");
        assert!(*visibility <= 12 * 3600, "more than SQS allows: {visibility} s");
    }
    let choices: Vec<_> = timeouts.iter().map(|(timeout, _)| *timeout).collect();
    let allowed = template.at("Parameters.FunctionTimeout.AllowedValues").as_sequence().expect("a list");
    assert_eq!(allowed.iter().filter_map(Value::as_u64).collect::<Vec<_>>(), choices);
    assert_eq!(
        template.at("Resources.OrdersQueue.Properties.VisibilityTimeout"),
        &yaml("!FindInMap [VisibilityTimeout, !Ref FunctionTimeout, Seconds]")
    );
    assert_eq!(template.at("Resources.OrdersFunction.Properties.Timeout"), &yaml("!Ref FunctionTimeout"));
    Ok(())
}

/// A message that meets another attempt at work comes back when that attempt's lease is over, so that
/// it can meet each attempt once at most.
#[test]
fn busy_answers_do_not_use_up_the_deliveries() -> TestResult {
    const MARGIN: u64 = 2;
    const ATTEMPTS: u64 = 5;
    let template = Template::read()?;
    for (timeout, visibility) in template.timeouts() {
        assert!(visibility > timeout + MARGIN, "{visibility} s for {timeout} s");
    }
    assert!(template.number("Parameters.MaxReceiveCount.Default") >= 2 * ATTEMPTS);
    assert_eq!(
        template.at("Resources.OrdersQueue.Properties.RedrivePolicy.maxReceiveCount"),
        &yaml("!Ref MaxReceiveCount")
    );
    Ok(())
}

#[test]
fn what_failed_is_reported_message_by_message_and_kept() -> TestResult {
    let template = Template::read()?;
    let source = template.at("Resources.OrdersFunction.Properties.Events.Orders.Properties");
    assert_eq!(source["FunctionResponseTypes"], yaml("[ReportBatchItemFailures]"));
    assert_eq!(
        template.at("Resources.OrdersQueue.Properties.RedrivePolicy.deadLetterTargetArn"),
        &yaml("!GetAtt DeadLetterQueue.Arn")
    );
    // The time in the queue counts for the dead-letter queue too.
    let in_queue = template.number("Parameters.MessageRetention.MaxValue");
    let in_all = template.number("Resources.DeadLetterQueue.Properties.MessageRetentionPeriod");
    let alarm = template.number("Resources.DeadLetterAgeAlarm.Properties.Threshold");
    assert!(in_queue + 2 * alarm < in_all, "no time left to look at what was given up");
    Ok(())
}

#[test]
fn logs_are_json_and_end_some_day() -> TestResult {
    let template = Template::read()?;
    let logging = template.at("Resources.OrdersFunction.Properties.LoggingConfig");
    assert_eq!(logging["LogFormat"], "JSON");
    assert_eq!(logging["LogGroup"], yaml("!Ref OrdersLogs"));
    // Below INFO the library's line for each call is not written.
    assert_eq!(logging["ApplicationLogLevel"], "INFO");
    assert!(template.number("Resources.OrdersLogs.Properties.RetentionInDays") > 0);
    Ok(())
}
