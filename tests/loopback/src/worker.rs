//! One worker process after the other.

use std::future::pending;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::StatusCode;
use hyper::header::HeaderValue;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use crate::Error;
use crate::error::lock;
use crate::http;
use crate::lambda::{Answer, DeadlineHeader, Host, Job, Progress, WorkerId};
use crate::output;
use crate::runtime_api::{Call, Failure, HttpResponse, Message, accepted, refusal};

/// As long as Lambda waits for the first poll.
const INIT_TIMEOUT: Duration = Duration::from_secs(10);

type Ready = oneshot::Sender<Result<(), Error>>;

/// Why there has to be a new process.
enum End {
    /// There has not: the function is being stopped.
    Stopped,
    /// It died after its first poll.
    Died,
    /// It never polled.
    Init { answer: Answer, reason: String },
}

/// Keeps one process alive until the function is stopped. A process that fails to start costs one event, as
/// with Lambda, and is tried again for the next one; the very first failure is reported to `ready` instead.
pub(crate) async fn slot(host: Arc<Host>, ready: Ready, mut stop: watch::Receiver<bool>) {
    let mut ready = Some(ready);
    let mut undelivered = None;
    loop {
        let end = match Process::spawn(&host) {
            Ok(mut process) => {
                let end = process
                    .run(&host, &mut ready, &mut undelivered, &mut stop)
                    .await;
                process.close(&host);
                end
            }
            Err(error) => {
                let reason = format!("cannot be run: {error}");
                let failure = Failure {
                    error_type: "Runtime.InvalidEntrypoint".into(),
                    error_message: reason.clone(),
                };
                End::Init {
                    answer: failure.into(),
                    reason,
                }
            }
        };
        match end {
            End::Stopped => return,
            End::Died => {}
            End::Init { answer, reason } => {
                if let Some(ready) = ready.take() {
                    let text = host
                        .output
                        .lines()
                        .into_iter()
                        .map(|line| line.text + "\n")
                        .collect();
                    let binary = host.options.binary.clone();
                    let _ = ready.send(Err(Error::Init {
                        binary,
                        reason,
                        output: text,
                    }));
                    return;
                }
                let job = match undelivered.take() {
                    Some(job) => Some(job),
                    None => tokio::select! {
                        job = take(&host) => Some(job),
                        () = stopped(&mut stop) => None,
                    },
                };
                let Some(job) = job else { return };
                job.progress.send_replace(Progress::Done(None, answer));
            }
        }
    }
}

/// The next event, for the first who asks.
async fn take(host: &Host) -> Job {
    match host.queue.lock().await.recv().await {
        Some(job) => job,
        // The function was dropped, and this task with it.
        None => pending().await,
    }
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error is the drop of the function: that stops it too.
    let _ = stop.wait_for(|stop| *stop).await;
}

struct Process {
    id: WorkerId,
    child: Child,
    messages: mpsc::UnboundedReceiver<Message>,
    /// A poll that waits for an event.
    poll: Option<oneshot::Sender<HttpResponse>>,
    polled: bool,
    init_error: Option<Failure>,
    running: Option<Running>,
}

struct Running {
    job: Job,
    ends: Instant,
}

impl Process {
    fn spawn(host: &Host) -> std::io::Result<Process> {
        let number = host.last_worker.fetch_add(1, Ordering::Relaxed) + 1;
        let messages = host.routes.open(number);
        let (stdout, stderr, streams) = output::streams()?;
        let mut command = Command::new(&host.options.binary);
        environment(&mut command, host, number);
        command
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .kill_on_drop(true);
        let spawned = command.spawn();
        // Our copies of the child's ends go with the command, or the streams would never end.
        drop(command);
        let child = spawned.inspect_err(|_| host.routes.close(number))?;
        let id = WorkerId {
            number,
            pid: child.id().unwrap_or_default(),
        };
        lock(&host.workers).insert(number, id);
        host.output.follow(id, streams)?;
        Ok(Process {
            id,
            child,
            messages,
            poll: None,
            polled: false,
            init_error: None,
            running: None,
        })
    }

    fn close(&self, host: &Host) {
        host.routes.close(self.id.number);
        lock(&host.workers).remove(&self.id.number);
    }

    async fn run(
        &mut self,
        host: &Host,
        ready: &mut Option<Ready>,
        undelivered: &mut Option<Job>,
        stop: &mut watch::Receiver<bool>,
    ) -> End {
        let init_ends = Instant::now() + INIT_TIMEOUT;
        loop {
            let idle = self.poll.is_some() && self.running.is_none();
            if idle && let Some(job) = undelivered.take() {
                *undelivered = self.deliver(host, job);
                continue;
            }
            let ends = self
                .running
                .as_ref()
                .map_or(init_ends, |running| running.ends);
            let timed = self.running.is_some() || !self.polled;
            let killed = async {
                match &self.running {
                    Some(running) => running.job.kill.notified().await,
                    None => pending().await,
                }
            };
            tokio::select! {
                biased;
                () = stopped(stop) => {
                    self.kill().await;
                    return End::Stopped;
                }
                Some(message) = self.messages.recv() => self.answer(message, ready),
                status = self.child.wait() => return self.ended(status),
                () = killed => {
                    self.kill().await;
                    self.finish(Answer::Killed);
                    return End::Died;
                }
                () = sleep_until(ends), if timed => {
                    self.kill().await;
                    if self.running.is_none() {
                        let reason = format!("did not ask for an event within {INIT_TIMEOUT:?}");
                        return End::Init { answer: Answer::TimedOut, reason };
                    }
                    self.finish(Answer::TimedOut);
                    return End::Died;
                }
                job = take(host), if idle => *undelivered = self.deliver(host, job),
            }
        }
    }

    /// Kills the process and waits for its end.
    async fn kill(&mut self) {
        // An error says that it has ended already.
        let _ = self.child.kill().await;
    }

    /// Reports how the current event ended.
    fn finish(&mut self, answer: Answer) {
        if let Some(running) = self.running.take() {
            running
                .job
                .progress
                .send_replace(Progress::Done(Some(self.id), answer));
        }
    }

    fn ended(&mut self, status: std::io::Result<std::process::ExitStatus>) -> End {
        let answer = match &status {
            Ok(status) => Answer::Exited(*status),
            Err(error) => Answer::from(Failure {
                error_type: "Runtime.ExitError".into(),
                error_message: error.to_string(),
            }),
        };
        if self.polled {
            self.finish(answer);
            return End::Died;
        }
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        match self.init_error.take() {
            Some(failure) => {
                let reason = format!(
                    "{}: {} ({status})",
                    failure.error_type, failure.error_message
                );
                End::Init {
                    answer: failure.into(),
                    reason,
                }
            }
            None => End::Init {
                answer,
                reason: format!("ended before its first poll ({status})"),
            },
        }
    }

    /// Gives the event to the poll that waits, or back if that has gone.
    fn deliver(&mut self, host: &Host, job: Job) -> Option<Job> {
        let poll = self.poll.take()?;
        if poll.is_closed() {
            return Some(job);
        }
        // Said first: whoever sees an effect of the event must find its worker.
        job.progress.send_replace(Progress::Running(self.id));
        let response = event_response(host, &job);
        if poll.send(response).is_err() {
            job.progress.send_replace(Progress::Queued);
            return Some(job);
        }
        self.running = Some(Running {
            ends: Instant::now() + job.event.timeout,
            job,
        });
        None
    }

    fn answer(&mut self, Message { call, reply }: Message, ready: &mut Option<Ready>) {
        let current = self
            .running
            .as_ref()
            .map(|running| running.job.request_id.as_str());
        let response = match call {
            Call::Next => {
                self.polled = true;
                self.poll = Some(reply);
                if let Some(ready) = ready.take() {
                    let _ = ready.send(Ok(()));
                }
                return;
            }
            Call::InitError(failure) => {
                self.init_error = Some(failure);
                accepted()
            }
            Call::Response { request_id, body } if current == Some(&request_id) => {
                self.finish(Answer::Response(body));
                accepted()
            }
            Call::Error { request_id, error } if current == Some(&request_id) => {
                self.finish(error.into());
                accepted()
            }
            Call::TooLarge { request_id, length } if current == Some(&request_id) => {
                let error_message = format!("response of {length} bytes is larger than 6 MB");
                let error_type = "Function.ResponseSizeTooLarge";
                self.finish(Answer::FunctionError {
                    error_type: error_type.into(),
                    error_message: error_message.clone(),
                });
                refusal(StatusCode::PAYLOAD_TOO_LARGE, error_type, &error_message)
            }
            Call::Response { request_id, .. }
            | Call::Error { request_id, .. }
            | Call::TooLarge { request_id, .. } => {
                let message = format!("this worker does not hold {request_id}");
                refusal(StatusCode::BAD_REQUEST, "InvalidRequestID", &message)
            }
        };
        // A worker that does not wait for the reply does not need it.
        let _ = reply.send(response);
    }
}

impl From<Failure> for Answer {
    fn from(
        Failure {
            error_type,
            error_message,
        }: Failure,
    ) -> Self {
        Answer::FunctionError {
            error_type,
            error_message,
        }
    }
}

fn event_response(host: &Host, job: &Job) -> HttpResponse {
    let mut response = http::json(StatusCode::OK, job.event.payload.clone());
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let deadline = match job.event.deadline {
        DeadlineHeader::In(time) => Some((now + time).as_millis().to_string()),
        DeadlineHeader::Ms(ms) => Some(ms.to_string()),
        DeadlineHeader::Absent => None,
    };
    let trace = format!(
        "Root=1-{:08x}-{:024x};Parent={:016x};Sampled=0",
        now.as_secs(),
        1,
        1
    );
    let arn = format!(
        "arn:aws:lambda:{}:000000000000:function:{}",
        region(host),
        host.options.function_name
    );
    let headers = [
        (
            "lambda-runtime-aws-request-id",
            Some(job.request_id.clone()),
        ),
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
    let set = host
        .options
        .env
        .iter()
        .find(|(name, _)| name == "AWS_REGION");
    set.map_or("us-east-1", |(_, region)| region)
}

/// What Lambda sets, and what the options add.
fn environment(command: &mut Command, host: &Host, number: u32) {
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
        .env(
            "AWS_LAMBDA_LOG_STREAM_NAME",
            format!("2026/01/01/[$LATEST]w{number}"),
        )
        .env("AWS_LAMBDA_LOG_FORMAT", "JSON")
        .env("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
        .env("AWS_EXECUTION_ENV", "AWS_Lambda_provided.al2023")
        .env("AWS_REGION", region(host))
        .env("TZ", ":UTC")
        .env("_HANDLER", "bootstrap")
        .envs(host.options.env.iter().map(|(name, value)| (name, value)));
}
