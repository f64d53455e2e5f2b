//! What Lambda tells a worker: its environment, and the headers of an event.

use std::time::{SystemTime, UNIX_EPOCH};

use hyper::StatusCode;
use hyper::header::HeaderValue;
use tokio::process::Command;

use crate::http;
use crate::lambda::{DeadlineHeader, Host, Job};
use crate::runtime_api::HttpResponse;

/// The answer to a poll: the event and its headers.
pub(crate) fn event(host: &Host, job: &Job) -> HttpResponse {
    let mut response = http::json(StatusCode::OK, job.event.payload.clone());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let deadline = match job.event.deadline {
        DeadlineHeader::In(time) => Some((now + time).as_millis().to_string()),
        DeadlineHeader::Ms(ms) => Some(ms.to_string()),
        DeadlineHeader::Absent => None,
    };
    let trace = format!("Root=1-{:08x}-{:024x};Parent={:016x};Sampled=0", now.as_secs(), 1, 1);
    let arn = format!("arn:aws:lambda:{}:000000000000:function:{}", region(host), host.options.function_name);
    let headers = [
        ("lambda-runtime-aws-request-id", Some(job.request_id.clone())),
        ("lambda-runtime-deadline-ms", deadline),
        ("lambda-runtime-invoked-function-arn", Some(arn)),
        ("lambda-runtime-trace-id", Some(trace)),
        ("lambda-runtime-aws-tenant-id", job.event.tenant_id.clone()),
    ];
    for (name, value) in headers {
        if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn region(host: &Host) -> &str {
    let set = host.options.env.iter().find(|(name, _)| name == "AWS_REGION");
    set.map_or("us-east-1", |(_, region)| region)
}

/// What Lambda sets, and what the options add.
pub(crate) fn environment(command: &mut Command, host: &Host, number: u32) {
    let name = &host.options.function_name;
    command.env_clear();
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
        .env("AWS_LAMBDA_RUNTIME_API", format!("{}/w{number}", host.base))
        .env("AWS_LAMBDA_FUNCTION_NAME", name)
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128")
        .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
        .env("AWS_LAMBDA_LOG_GROUP_NAME", format!("/aws/lambda/{name}"))
        .env("AWS_LAMBDA_LOG_STREAM_NAME", format!("2026/01/01/[$LATEST]w{number}"))
        .env("AWS_LAMBDA_LOG_FORMAT", "JSON")
        .env("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
        .env("AWS_EXECUTION_ENV", "AWS_Lambda_provided.al2023")
        .env("AWS_REGION", region(host))
        .env("TZ", ":UTC")
        .env("_HANDLER", "bootstrap")
        .envs(
            (host.options.concurrency > 1)
                .then(|| ("AWS_LAMBDA_MAX_CONCURRENCY", host.options.concurrency.to_string())),
        )
        .envs(host.options.env.iter().map(|(name, value)| (name, value)));
}
