//! The Lambda, with a real `lambda_runtime` worker.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use loopback::{Answer, DeadlineHeader, Error, Event, Lambda, LambdaOptions, Line, build, signal};
use serde_json::Value;

const LONG: Duration = Duration::from_secs(30);
const ANSWER: &str = r#"{"do":"answer"}"#;
const WAIT: &str = r#"{"do":"wait"}"#;

async fn options(workers: usize) -> LambdaOptions {
    let binary = build::example("echo", &["loopback"]).await.expect("echo builds");
    LambdaOptions { workers, ..LambdaOptions::new(binary, "echo") }
}

async fn start(workers: usize) -> Lambda {
    Lambda::start(options(workers).await).await.expect("echo starts")
}

fn response(answer: Answer) -> Value {
    match answer {
        Answer::Response(text) => serde_json::from_str(&text).expect("JSON"),
        other => panic!("{other:?}"),
    }
}

fn is_running(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

#[tokio::test]
async fn an_event_is_answered_with_what_lambda_tells() {
    let mut options = options(1).await;
    options.env.push(("EXTRA".into(), "yes".into()));
    options.env.push(("AWS_REGION".into(), "eu-central-1".into()));
    let lambda = Lambda::start(options).await.expect("echo starts");
    let tenant_id = Some("blue".to_owned());
    let invocation = lambda.send(Event { tenant_id, ..Event::new(ANSWER, LONG) });
    let answer = response(invocation.result().await);
    let worker = invocation.started().await.expect("it was taken");
    assert_eq!(answer["event"]["do"], "answer");
    assert_eq!(answer["pid"], worker.pid);
    assert_eq!(answer["request_id"], invocation.request_id);
    assert_eq!(answer["tenant"], "blue");
    assert_eq!(answer["arn"], "arn:aws:lambda:eu-central-1:000000000000:function:echo");
    assert_eq!(answer["env"]["EXTRA"], "yes");
    assert_eq!(answer["env"]["AWS_LAMBDA_FUNCTION_NAME"], "echo");
    assert!(answer["env"]["CARGO"].is_null(), "the environment is Lambda's, not ours");
    lambda.stop().await;
    assert!(!is_running(worker.pid));
}

#[tokio::test]
async fn the_deadline_header_is_true_or_what_the_caller_says() {
    let lambda = start(1).await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis() as u64;
    let deadline = async |header| {
        let invocation = lambda.invoke_with_deadline_header(ANSWER, header, LONG);
        response(invocation.result().await)["deadline"].as_u64()
    };
    let truth = response(lambda.invoke(ANSWER, LONG).result().await)["deadline"].as_u64();
    assert!(truth.is_some_and(|ms| (now + 30_000..now + 40_000).contains(&ms)), "{truth:?}");
    assert_eq!(deadline(DeadlineHeader::Ms(600_000)).await, Some(600_000));
    assert_eq!(deadline(DeadlineHeader::Ms(0)).await, Some(0));
    let soon = deadline(DeadlineHeader::In(Duration::from_secs(1))).await;
    assert!(soon.is_some_and(|ms| (now + 1000..now + 9000).contains(&ms)), "{soon:?}");
    let absent = lambda.invoke_with_deadline_header(ANSWER, DeadlineHeader::Absent, LONG);
    assert!(matches!(absent.result().await, Answer::Exited(status) if status.code() == Some(101)));
    lambda.stop().await;
}

#[tokio::test]
async fn two_workers_hold_two_events_and_a_third_waits() {
    let lambda = start(2).await;
    let (first, second) = (lambda.invoke(WAIT, LONG), lambda.invoke(WAIT, LONG));
    let (one, two) = (first.started().await.expect("taken"), second.started().await.expect("taken"));
    assert_ne!(one.pid, two.pid);
    let third = lambda.invoke(ANSWER, LONG);
    let took = |line: &Line| line.worker == one && line.text == r#"took "wait""#;
    lambda.wait_for_line(took, LONG).await.expect("printed");
    assert_eq!(first.kill().await, Answer::Killed);
    assert!(!is_running(one.pid), "killed and waited for");
    let answer = response(third.result().await);
    let replacement = third.started().await.expect("taken");
    assert_eq!(answer["pid"], replacement.pid);
    assert_eq!(replacement.number, 3, "the replacement has the next number");
    assert_eq!(third.kill().await, third.result().await, "a kill that comes too late changes nothing");
    assert!(is_running(replacement.pid));
    let living = lambda.workers();
    assert_eq!(living.len(), 2);
    lambda.stop().await;
    assert_eq!(second.result().await, Answer::Stopped);
    assert!(living.iter().all(|worker| !is_running(worker.pid)));
}

#[tokio::test]
async fn a_worker_is_killed_at_its_deadline_even_when_it_is_frozen() {
    let lambda = start(1).await;
    let short = Duration::from_millis(200);
    assert_eq!(lambda.invoke(WAIT, short).result().await, Answer::TimedOut);
    let invocation = lambda.invoke(WAIT, Duration::from_secs(1));
    let frozen = invocation.started().await.expect("taken");
    signal(frozen.pid, "STOP").await.expect("stopped");
    assert_eq!(invocation.result().await, Answer::TimedOut);
    assert!(!is_running(frozen.pid));
    response(lambda.invoke(ANSWER, LONG).result().await);
    lambda.stop().await;
}

#[tokio::test]
async fn a_frozen_worker_goes_on_when_it_is_told() {
    let lambda = start(1).await;
    let worker = lambda.workers()[0];
    signal(worker.pid, "STOP").await.expect("stopped");
    let invocation = lambda.invoke(ANSWER, LONG);
    assert_eq!(invocation.started().await.expect("taken"), worker);
    signal(worker.pid, "CONT").await.expect("continued");
    assert_eq!(response(invocation.result().await)["pid"], worker.pid);
    lambda.stop().await;
    signal(worker.pid, "CONT").await.expect_err("it is gone");
}

#[tokio::test]
async fn errors_panics_and_exits_are_told_apart() {
    let lambda = start(1).await;
    let answer = async |event: &str| lambda.invoke(event, LONG).result().await;
    let refused =
        Answer::FunctionError { error_type: "Refused".into(), error_message: "as the event says".into() };
    assert_eq!(answer(r#"{"do":"fail"}"#).await, refused);
    let Answer::FunctionError { error_message, .. } = answer(r#"{"do":"panic"}"#).await else { panic!() };
    assert_eq!(error_message, "Lambda panicked: as the event says");
    let Answer::FunctionError { error_type, .. } = answer(r#"{"do":"fill"}"#).await else { panic!() };
    assert_eq!(error_type, "Function.ResponseSizeTooLarge");
    let Answer::Exited(status) = answer(r#"{"do":"exit"}"#).await else { panic!() };
    assert_eq!(status.code(), Some(3));
    assert!(lambda.lines().iter().any(|line| line.text == "no end of line"));
    response(answer(ANSWER).await);
    lambda.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_printed_before_the_answer_is_there_with_the_answer() {
    let lambda = start(1).await;
    for count in 1..=200 {
        response(lambda.invoke(ANSWER, LONG).result().await);
        let took = lambda.lines().into_iter().filter(|line| line.text == r#"took "answer""#).count();
        assert_eq!(took, count);
    }
    lambda.stop().await;
}

#[tokio::test]
async fn a_binary_that_does_not_start_is_an_error_with_its_output() {
    let mut options = options(2).await;
    options.env.push(("FAIL_INIT_IF".into(), "/".into()));
    let Err(Error::Init { reason, output, .. }) = Lambda::start(options.clone()).await else {
        panic!("it cannot start")
    };
    assert!(reason.contains("exit status: 1"), "{reason}");
    assert!(output.contains("found /") && output.contains("told not to start"), "{output}");
    options.binary = "/nowhere/bootstrap".into();
    let error = Lambda::start(options).await.expect_err("it cannot start").to_string();
    assert!(error.contains("/nowhere/bootstrap did not start: cannot be run"), "{error}");
}

#[tokio::test]
async fn a_replacement_that_does_not_start_costs_one_event_each_time() {
    let marker = std::env::temp_dir().join(format!("loopback-{}", std::process::id()));
    let mut options = options(1).await;
    options.env.push(("FAIL_INIT_IF".into(), marker.display().to_string()));
    let lambda = Lambda::start(options).await.expect("echo starts");
    std::fs::write(&marker, "").expect("a temporary file");
    assert_eq!(lambda.invoke(WAIT, LONG).kill().await, Answer::Killed);
    let lost = lambda.invoke(ANSWER, LONG);
    let answer = lost.result().await;
    std::fs::remove_file(&marker).expect("removed");
    assert!(matches!(answer, Answer::Exited(status) if status.code() == Some(1)), "{answer:?}");
    assert!(lost.started().await.is_err());
    response(lambda.invoke(ANSWER, LONG).result().await);
    lambda.stop().await;
}

#[tokio::test]
async fn dropping_leaves_no_process() {
    let lambda = start(2).await;
    let workers = lambda.workers();
    assert_eq!(workers.len(), 2);
    drop(lambda);
    for worker in workers {
        // The kill is immediate, the end of a process is not.
        while signal(worker.pid, "0").await.is_ok() {
            tokio::task::yield_now().await;
        }
    }
}
