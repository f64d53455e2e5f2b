//! How this library's errors leave a Lambda function: under names that alarms and Step Functions
//! can match.

use std::time::Duration;

use lambda_idempotency_tests::{TABLE, TestResult};
use loopback::{
    Answer, DeadlineHeader, DynamoDb, Error, Fault, Invocation, Lambda, LambdaOptions, Proxy, build,
};
use serde_json::{Value, json};

const LONG: Duration = Duration::from_secs(30);

struct Stage {
    lambda: Lambda,
    proxy: Proxy,
    _dynamo: DynamoDb,
}

impl Stage {
    async fn set_up(workers: usize) -> Result<Self, Error> {
        let binary = build::example("answers", &[]).await?;
        let dynamo = DynamoDb::start().await?;
        dynamo.create_table(TABLE).await?;
        let proxy = Proxy::start(dynamo.endpoint()).await?;
        let mut options = LambdaOptions::new(binary, "answers");
        options.workers = workers;
        options.env = loopback::dynamo::env_for(&proxy.endpoint());
        options.env.push(("IDEMPOTENCY_TABLE".into(), TABLE.into()));
        Ok(Self { lambda: Lambda::start(options).await?, proxy, _dynamo: dynamo })
    }

    fn invoke(&self, payload: &Value) -> Invocation {
        self.lambda.invoke(payload.to_string(), LONG)
    }
}

/// Type and message of a function's error.
async fn failure(invocation: Invocation) -> (String, String) {
    match invocation.result().await {
        Answer::FunctionError { error_type, error_message } => (error_type, error_message),
        other => panic!("{other:?}"),
    }
}

async fn response(invocation: Invocation) -> String {
    match invocation.result().await {
        Answer::Response(text) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_error_of_the_library_has_a_stable_type() -> TestResult {
    let stage = Stage::set_up(2).await?;

    let (error_type, message) = failure(stage.invoke(&json!({"then": "answer"}))).await;
    assert_eq!(error_type, "IdempotencyMissingKey");
    assert!(message.contains("job_id") && message.contains("jobs.handle"), "{message}");

    let first = response(stage.invoke(&json!({"job_id": 1}))).await;
    assert_eq!(response(stage.invoke(&json!({"job_id": 1}))).await, first, "the first request's id");
    let (error_type, message) = failure(stage.invoke(&json!({"job_id": 1, "edited": true}))).await;
    assert_eq!(error_type, "IdempotencyPayloadMismatch");
    // The application's words, then what is behind them.
    assert!(message.starts_with("the job was not done: record jobs.handle#"), "{message}");

    let waiting = stage.invoke(&json!({"job_id": 2, "then": "wait"}));
    stage.proxy.wait_for("PutItem", 4, LONG).await?;
    let (error_type, message) = failure(stage.invoke(&json!({"job_id": 2, "then": "wait"}))).await;
    assert_eq!(error_type, "IdempotencyAlreadyInProgress");
    assert!(message.contains("do not acknowledge"), "{message}");
    assert_eq!(waiting.kill().await, Answer::Killed);

    let payload = json!({"job_id": 3}).to_string();
    let passed = DeadlineHeader::Ms(1_700_000_000_000);
    let passed = stage.lambda.invoke_with_deadline_header(payload, passed, LONG);
    assert_eq!(failure(passed).await.0, "IdempotencyDeadlinePassed");

    stage.proxy.fault_next("PutItem", Fault::error("AccessDeniedException", "not authorized"));
    let (error_type, message) = failure(stage.invoke(&json!({"job_id": 4}))).await;
    assert_eq!(error_type, "IdempotencyStore");
    assert!(message.contains("dynamodb:PutItem"), "{message}");

    stage.proxy.fault_next("UpdateItem", Fault::error("AccessDeniedException", "not authorized"));
    let (error_type, message) = failure(stage.invoke(&json!({"job_id": 5}))).await;
    assert_eq!(error_type, "IdempotencyNotRecorded");
    assert!(message.contains("dynamodb:UpdateItem"), "{message}");

    stage.lambda.stop().await;
    Ok(())
}

#[tokio::test]
async fn the_functions_own_errors_leave_as_they_would_without_the_library() -> TestResult {
    let stage = Stage::set_up(1).await?;
    for _ in 0..2 {
        let (error_type, message) = failure(stage.invoke(&json!({"job_id": 1, "then": "fail"}))).await;
        assert_eq!((error_type.as_str(), message.as_str()), ("&answers::JobError", "the job failed"));
    }
    // A panic ends as `lambda_runtime` ends it, and gives the key back.
    for _ in 0..2 {
        let (error_type, message) = failure(stage.invoke(&json!({"job_id": 2, "then": "panic"}))).await;
        assert!(!error_type.starts_with("Idempotency"), "{error_type}");
        assert!(message.contains("as the event says"), "{message}");
    }
    assert_eq!(
        stage.proxy.operations(),
        ["PutItem", "DeleteItem"].repeat(4),
        "each of the four ran, and gave the key back"
    );
    stage.lambda.stop().await;
    Ok(())
}

#[tokio::test]
async fn a_tenants_record_answers_nobody_else() -> TestResult {
    let stage = Stage::set_up(1).await?;
    let invoke = |tenant: Option<&str>| {
        let event = loopback::Event::new(json!({"job_id": 1}).to_string(), LONG);
        stage.lambda.send(loopback::Event { tenant_id: tenant.map(str::to_owned), ..event })
    };
    let blue = response(invoke(Some("blue"))).await;
    let red = response(invoke(Some("red"))).await;
    let none = response(invoke(None)).await;
    assert!(blue != red && red != none && none != blue);
    assert_eq!(response(invoke(Some("blue"))).await, blue);
    stage.lambda.stop().await;
    Ok(())
}
