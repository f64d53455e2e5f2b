//! One worker process after the other.

use std::collections::VecDeque;
use std::future::{Future, pending, poll_fn};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use hyper::StatusCode;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use crate::Error;
use crate::error::lock;
use crate::lambda::{Answer, Host, Job, Progress, WorkerId};
use crate::output;
use crate::runtime_api::{Call, Failure, HttpResponse, Message, accepted, refusal};
use crate::sandbox;

/// As long as Lambda waits for the first poll.
const INIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The answer to an event, not yet told.
struct Ended {
    job: Job,
    by: WorkerId,
    answer: Answer,
}

impl Ended {
    fn tell(self) {
        let progress = Progress::Done(Some(self.by), self.answer);
        self.job.progress.send_replace(progress);
    }
}

type Ready = oneshot::Sender<Result<(), Error>>;

/// Why there has to be a new process.
enum End {
    /// There has not: the function is being stopped.
    Stopped,
    /// It died after its first poll, with the events that it held.
    Died(Vec<Ended>),
    /// It never polled.
    Init { answer: Answer, reason: String },
}

/// Keeps one process alive until the function is stopped.
///
/// After a process that failed to start there is no other until an event comes, and if that process
/// fails too, the event is answered with the failure. The very first failure goes to `ready` instead.
pub(crate) async fn slot(host: Arc<Host>, ready: Ready, mut stop: watch::Receiver<bool>) {
    let mut ready = Some(ready);
    let mut undelivered = None;
    let mut died = Vec::new();
    loop {
        let spawned = Process::spawn(&host);
        // Told now, so that whoever has the answer finds the replacement among the workers.
        died.drain(..).for_each(Ended::tell);
        let end = match spawned {
            Ok(mut process) => {
                let end = process.run(&host, &mut ready, &mut undelivered, &mut stop).await;
                process.close(&host);
                end
            }
            Err(error) => {
                let reason = format!("cannot be run: {error}");
                let failure =
                    Failure { error_type: "Runtime.InvalidEntrypoint".into(), error_message: reason.clone() };
                End::Init { answer: failure.into(), reason }
            }
        };
        match end {
            End::Stopped => return,
            End::Died(ended) => died = ended,
            End::Init { answer, reason } => {
                if let Some(ready) = ready.take() {
                    let text = host.output.lines().into_iter().map(|line| line.text + "\n").collect();
                    let binary = host.options.binary.clone();
                    let _ = ready.send(Err(Error::Init { binary, reason, output: text }));
                    return;
                }
                if let Some(job) = undelivered.take() {
                    job.progress.send_replace(Progress::Done(None, answer));
                } else {
                    tokio::select! {
                        job = take(&host) => undelivered = Some(job),
                        () = stopped(&mut stop) => return,
                    }
                }
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

/// Returns when one of the events is to be killed.
async fn killed(running: &[Running]) {
    let mut kills: Vec<_> = running.iter().map(|running| Box::pin(running.job.kill.notified())).collect();
    poll_fn(|context| {
        let killed = kills.iter_mut().any(|kill| kill.as_mut().poll(context).is_ready());
        if killed { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

struct Process {
    id: WorkerId,
    child: Child,
    messages: mpsc::UnboundedReceiver<Message>,
    /// The polls that wait for an event.
    polls: VecDeque<oneshot::Sender<HttpResponse>>,
    polled: bool,
    init_error: Option<Failure>,
    running: Vec<Running>,
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
        sandbox::environment(&mut command, host, number);
        command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).kill_on_drop(true);
        let spawned = command.spawn();
        // Our copies of the child's ends go with the command, or the streams would never end.
        drop(command);
        let child = spawned.inspect_err(|_| host.routes.close(number))?;
        let id = WorkerId { number, pid: child.id().unwrap_or_default() };
        lock(&host.workers).insert(number, id);
        host.output.follow(id, streams)?;
        Ok(Process {
            id,
            child,
            messages,
            polls: VecDeque::new(),
            polled: false,
            init_error: None,
            running: Vec::new(),
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
            let idle = !self.polls.is_empty() && self.running.len() < host.options.concurrency;
            if idle && let Some(job) = undelivered.take() {
                *undelivered = self.deliver(host, job);
                continue;
            }
            let ends = self.running.iter().map(|running| running.ends).min().unwrap_or(init_ends);
            let timed = !self.running.is_empty() || !self.polled;
            tokio::select! {
                biased;
                () = stopped(stop) => {
                    self.kill().await;
                    return End::Stopped;
                }
                Some(message) = self.messages.recv() => self.answer(message, ready),
                status = self.child.wait() => return self.ended(status),
                () = killed(&self.running) => {
                    self.kill().await;
                    return End::Died(self.take_jobs(&Answer::Killed));
                }
                () = sleep_until(ends), if timed => {
                    self.kill().await;
                    if self.running.is_empty() {
                        let reason = format!("did not ask for an event within {INIT_TIMEOUT:?}");
                        return End::Init { answer: Answer::TimedOut, reason };
                    }
                    return End::Died(self.take_jobs(&Answer::TimedOut));
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

    /// How the events of a process that is gone ended.
    fn take_jobs(&mut self, answer: &Answer) -> Vec<Ended> {
        let by = self.id;
        self.running.drain(..).map(|Running { job, .. }| Ended { job, by, answer: answer.clone() }).collect()
    }

    /// Tells how one event ended.
    fn finish(&mut self, request_id: &str, answer: Answer) {
        if let Some(at) = self.running.iter().position(|running| running.job.request_id == request_id) {
            let Running { job, .. } = self.running.swap_remove(at);
            Ended { job, by: self.id, answer }.tell();
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
            return End::Died(self.take_jobs(&answer));
        }
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        match self.init_error.take() {
            Some(failure) => {
                let reason = format!("{}: {} ({status})", failure.error_type, failure.error_message);
                End::Init { answer: failure.into(), reason }
            }
            None => End::Init { answer, reason: format!("ended before its first poll ({status})") },
        }
    }

    /// Gives the event to a poll that waits, or back if that has gone.
    fn deliver(&mut self, host: &Host, job: Job) -> Option<Job> {
        let Some(poll) = self.polls.pop_front().filter(|poll| !poll.is_closed()) else { return Some(job) };
        // Said first: whoever sees an effect of the event must find its worker.
        job.progress.send_replace(Progress::Running(self.id));
        let response = sandbox::event(host, &job);
        if poll.send(response).is_err() {
            job.progress.send_replace(Progress::Queued);
            return Some(job);
        }
        self.running.push(Running { ends: Instant::now() + job.event.timeout, job });
        None
    }

    fn answer(&mut self, Message { call, reply }: Message, ready: &mut Option<Ready>) {
        let holds = |id: &str| self.running.iter().any(|running| running.job.request_id == id);
        let response = match call {
            Call::Next => {
                self.polled = true;
                self.polls.push_back(reply);
                if let Some(ready) = ready.take() {
                    let _ = ready.send(Ok(()));
                }
                return;
            }
            Call::InitError(failure) => {
                self.init_error = Some(failure);
                accepted()
            }
            Call::Response { request_id, body } if holds(&request_id) => {
                self.finish(&request_id, Answer::Response(body));
                accepted()
            }
            Call::Error { request_id, error } if holds(&request_id) => {
                self.finish(&request_id, error.into());
                accepted()
            }
            Call::TooLarge { request_id, length } if holds(&request_id) => {
                let error_message = format!("response of {length} bytes is larger than 6 MB");
                let error_type = "Function.ResponseSizeTooLarge";
                let answer = Answer::FunctionError {
                    error_type: error_type.into(),
                    error_message: error_message.clone(),
                };
                self.finish(&request_id, answer);
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
    fn from(Failure { error_type, error_message }: Failure) -> Self {
        Answer::FunctionError { error_type, error_message }
    }
}
