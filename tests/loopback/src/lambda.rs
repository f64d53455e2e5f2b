//! A Lambda function on loopback: an unmodified binary in one or more worker processes, driven through the
//! runtime API (version 2018-06-01).
//!
//! A worker is one process with one base path, `/w1`, `/w2` and so on, and takes one event at a time, or as
//! many as [`LambdaOptions::concurrency`] says. When it
//! dies (killed, timed out, crashed) a new process with the **next** number takes its place at once, as
//! Lambda replaces a sandbox. A number therefore never means two processes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinSet;

use crate::Error;
use crate::error::lock;
use crate::http::{self, Server};
use crate::output::{Line, Output};
use crate::runtime_api::Routes;
use crate::worker;

/// What to run.
#[derive(Clone, Debug)]
pub struct LambdaOptions {
    /// The function's executable.
    pub binary: PathBuf,
    /// `AWS_LAMBDA_FUNCTION_NAME`.
    pub function_name: String,
    /// Added to the workers' environment, which otherwise holds `PATH` and what Lambda sets.
    pub env: Vec<(String, String)>,
    /// How many processes there are at the same time.
    pub workers: usize,
    /// How many events one process is given at the same time (`AWS_LAMBDA_MAX_CONCURRENCY`, as on managed
    /// instances). A process that is killed or times out takes all of them with it.
    pub concurrency: usize,
    /// Whether to repeat on standard error what the workers print.
    pub log: bool,
}

impl LambdaOptions {
    /// One silent worker with nothing added to its environment.
    pub fn new(binary: impl Into<PathBuf>, function_name: impl Into<String>) -> Self {
        let (binary, function_name) = (binary.into(), function_name.into());
        LambdaOptions { binary, function_name, env: Vec::new(), workers: 1, concurrency: 1, log: false }
    }
}

/// One worker process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerId {
    /// Its number, which is also its base path (`/w3`).
    pub number: u32,
    /// Its process id.
    pub pid: u32,
}

/// The `lambda-runtime-deadline-ms` header of an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeadlineHeader {
    /// This long after the worker takes the event, in milliseconds since 1970, as Lambda does.
    In(Duration),
    /// This number as it is; `cargo lambda watch` sends the constant 600000.
    Ms(u64),
    /// No header. `lambda_runtime` panics on it, and the worker ends.
    Absent,
}

/// An event and how it is delivered.
#[derive(Clone, Debug)]
pub struct Event {
    /// The JSON text.
    pub payload: String,
    /// When the worker is killed, counted from when it takes the event.
    pub timeout: Duration,
    /// What the worker is told about that.
    pub deadline: DeadlineHeader,
    /// The tenant id of a tenant-isolated function.
    pub tenant_id: Option<String>,
}

impl Event {
    /// An event whose deadline header is true.
    pub fn new(payload: impl Into<String>, timeout: Duration) -> Self {
        let deadline = DeadlineHeader::In(timeout);
        Event { payload: payload.into(), timeout, deadline, tenant_id: None }
    }
}

/// How an invocation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The function's response.
    Response(String),
    /// The function's error, or that it failed to start.
    FunctionError {
        /// `errorType`, on which alarms and Step Functions match.
        error_type: String,
        /// `errorMessage`.
        error_message: String,
    },
    /// The worker was killed at its deadline, as Lambda does.
    TimedOut,
    /// The worker was killed on demand.
    Killed,
    /// The worker ended by itself, or by a signal from elsewhere.
    Exited(ExitStatus),
    /// [`Lambda::stop`] came first.
    Stopped,
}

/// A running function.
#[derive(Debug)]
pub struct Lambda {
    host: Arc<Host>,
    jobs: mpsc::UnboundedSender<Job>,
    stop: watch::Sender<bool>,
    slots: JoinSet<()>,
    _server: Server,
}

/// What all workers share.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) options: LambdaOptions,
    pub(crate) base: String,
    pub(crate) routes: Arc<Routes>,
    pub(crate) queue: tokio::sync::Mutex<mpsc::UnboundedReceiver<Job>>,
    pub(crate) output: Arc<Output>,
    pub(crate) last_worker: AtomicU32,
    pub(crate) workers: Mutex<BTreeMap<u32, WorkerId>>,
}

/// An event on its way.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) request_id: String,
    pub(crate) event: Event,
    pub(crate) progress: watch::Sender<Progress>,
    pub(crate) kill: Arc<Notify>,
}

#[derive(Clone, Debug)]
pub(crate) enum Progress {
    Queued,
    Running(WorkerId),
    /// With the worker, if one took it.
    Done(Option<WorkerId>, Answer),
}

impl Lambda {
    /// Starts the workers and waits until each has asked for its first event.
    ///
    /// # Errors
    /// [`Error::Init`] when one ends or reports an error before that, or needs more than ten seconds.
    pub async fn start(options: LambdaOptions) -> Result<Lambda, Error> {
        let routes = Arc::new(Routes::default());
        let handler_routes = Arc::clone(&routes);
        let server = http::serve(move |request| Arc::clone(&handler_routes).handle(request)).await?;
        let (jobs, queue) = mpsc::unbounded_channel();
        let host = Arc::new(Host {
            base: format!("http://{}", server.address),
            routes,
            queue: tokio::sync::Mutex::new(queue),
            output: Output::new(options.log),
            last_worker: AtomicU32::new(0),
            workers: Mutex::default(),
            options,
        });
        let (stop, stopped) = watch::channel(false);
        let mut slots = JoinSet::new();
        let mut starts = Vec::new();
        for _ in 0..host.options.workers {
            let (ready, start) = oneshot::channel();
            slots.spawn(worker::slot(Arc::clone(&host), ready, stopped.clone()));
            starts.push(start);
        }
        let lambda = Lambda { host, jobs, stop, slots, _server: server };
        for start in starts {
            let started = start.await.unwrap_or_else(|_| Err(Error::Stopped("the worker started".into())));
            if let Err(error) = started {
                lambda.stop().await;
                return Err(error);
            }
        }
        Ok(lambda)
    }

    /// Queues an event for the first idle worker. Its deadline is `timeout` after the worker took it.
    pub fn invoke(&self, payload: impl Into<String>, timeout: Duration) -> Invocation {
        self.send(Event::new(payload, timeout))
    }

    /// [`invoke`](Self::invoke) with another deadline header than the true one.
    pub fn invoke_with_deadline_header(
        &self,
        payload: impl Into<String>,
        deadline: DeadlineHeader,
        timeout: Duration,
    ) -> Invocation {
        self.send(Event { deadline, ..Event::new(payload, timeout) })
    }

    /// Queues an event with everything that can be said about it.
    pub fn send(&self, event: Event) -> Invocation {
        let (sender, progress) = watch::channel(Progress::Queued);
        let request_id = request_id();
        let kill = Arc::new(Notify::new());
        let job = Job { request_id: request_id.clone(), event, progress: sender, kill: Arc::clone(&kill) };
        // The receiver lives in `self.host`.
        let _ = self.jobs.send(job);
        Invocation { request_id, progress, kill }
    }

    /// The living workers.
    pub fn workers(&self) -> Vec<WorkerId> {
        lock(&self.host.workers).values().copied().collect()
    }

    /// Everything the workers, also the dead ones, have printed. A line that a worker wrote before its
    /// answer is here once the answer is.
    pub fn lines(&self) -> Vec<Line> {
        self.host.output.lines()
    }

    /// The first line that fits, printed already or within `timeout`.
    pub async fn wait_for_line(
        &self,
        fits: impl FnMut(&Line) -> bool,
        timeout: Duration,
    ) -> Result<Line, Error> {
        self.host.output.wait_for(fits, timeout).await
    }

    /// Kills the workers and waits for their end. Dropping kills them without waiting.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.slots.join_next().await.is_some() {}
    }
}

/// An event that was queued. Dropping this changes nothing about it.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The request id that the worker is told.
    pub request_id: String,
    progress: watch::Receiver<Progress>,
    kill: Arc<Notify>,
}

impl Invocation {
    /// The worker that took the event, once one did.
    ///
    /// # Errors
    /// [`Error::Stopped`] when no worker ever will.
    pub async fn started(&self) -> Result<WorkerId, Error> {
        let mut progress = self.progress.clone();
        let progress = progress.wait_for(|progress| !matches!(progress, Progress::Queued)).await;
        match progress.as_deref() {
            Ok(Progress::Running(worker) | Progress::Done(Some(worker), _)) => Ok(*worker),
            _ => Err(Error::Stopped(format!("a worker took {}", self.request_id))),
        }
    }

    /// How it ended. May be asked again.
    pub async fn result(&self) -> Answer {
        let mut progress = self.progress.clone();
        let progress = progress.wait_for(|progress| matches!(progress, Progress::Done(..))).await;
        match progress.as_deref() {
            Ok(Progress::Done(_, answer)) => answer.clone(),
            _ => Answer::Stopped,
        }
    }

    /// Waits until a worker has the event, kills that process (SIGKILL) and waits for its end.
    /// [`Answer::Killed`], unless the invocation was over before.
    pub async fn kill(&self) -> Answer {
        // When no worker will take it, the result says so.
        let _ = self.started().await;
        self.kill.notify_one();
        self.result().await
    }
}

/// A request id in the form of Lambda's, unique across all functions of this process.
fn request_id() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    format!("{:08x}-0000-4000-8000-{number:012x}", std::process::id())
}
