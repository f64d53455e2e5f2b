//! What the workers print.
//!
//! Each stream is a socket pair. A reader waits for it, but whoever looks at the lines first reads what is
//! there: so a line that a worker wrote before it answered is always visible after the answer.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::watch;

use crate::Error;
use crate::error::lock;
use crate::lambda::WorkerId;

/// Where a line was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// One line that a worker printed, without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Who printed it.
    pub worker: WorkerId,
    /// Where.
    pub stream: Stream,
    /// What; bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// The lines of all workers.
#[derive(Debug)]
pub(crate) struct Output {
    echo: bool,
    inner: Mutex<Inner>,
    count: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Inner {
    lines: Vec<Line>,
    sources: Vec<Source>,
}

#[derive(Debug)]
struct Source {
    id: usize,
    worker: WorkerId,
    stream: Stream,
    socket: StdUnixStream,
    partial: Vec<u8>,
}

/// The worker's ends of a pair of streams whose other ends wait for its process id.
pub(crate) struct Streams {
    stdout: StdUnixStream,
    stderr: StdUnixStream,
}

/// Two [`Stdio`] for a command, and our ends of them.
pub(crate) fn streams() -> io::Result<(Stdio, Stdio, Streams)> {
    let (stdout, worker_stdout) = StdUnixStream::pair()?;
    let (stderr, worker_stderr) = StdUnixStream::pair()?;
    stdout.set_nonblocking(true)?;
    stderr.set_nonblocking(true)?;
    let stdio = |socket| Stdio::from(OwnedFd::from(socket));
    Ok((stdio(worker_stdout), stdio(worker_stderr), Streams { stdout, stderr }))
}

impl Output {
    pub(crate) fn new(echo: bool) -> Arc<Output> {
        Arc::new(Output { echo, inner: Mutex::default(), count: watch::Sender::new(0) })
    }

    /// Reads a worker's streams until it closes them.
    pub(crate) fn follow(self: &Arc<Self>, worker: WorkerId, streams: Streams) -> io::Result<()> {
        for (stream, socket) in [(Stream::Stdout, streams.stdout), (Stream::Stderr, streams.stderr)] {
            let readiness = UnixStream::from_std(socket.try_clone()?)?;
            let id = worker.number as usize * 2 + usize::from(stream == Stream::Stderr);
            let source = Source { id, worker, stream, socket, partial: Vec::new() };
            lock(&self.inner).sources.push(source);
            let output = Arc::clone(self);
            tokio::spawn(async move {
                while readiness.readable().await.is_ok() {
                    // `WouldBlock` makes tokio wait for the next edge.
                    match readiness.try_io(Interest::READABLE, || output.read(id)) {
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        Ok(()) | Err(_) => break,
                    }
                }
            });
        }
        Ok(())
    }

    /// Reads one source empty: `Ok` at its end.
    fn read(&self, id: usize) -> io::Result<()> {
        let mut inner = lock(&self.inner);
        let Inner { lines, sources } = &mut *inner;
        let Some(position) = sources.iter().position(|source| source.id == id) else {
            return Ok(());
        };
        let known = lines.len();
        let result = sources[position].drain(lines);
        if !matches!(&result, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
            sources.remove(position);
        }
        self.publish(lines, known);
        result
    }

    fn publish(&self, lines: &[Line], known: usize) {
        if self.echo {
            for line in &lines[known..] {
                eprintln!("[w{} {}] {}", line.worker.number, line.worker.pid, line.text);
            }
        }
        if lines.len() > known {
            self.count.send_replace(lines.len());
        }
    }

    /// Everything printed up to now.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let mut inner = lock(&self.inner);
        let Inner { lines, sources } = &mut *inner;
        let known = lines.len();
        sources.retain_mut(
            |source| matches!(source.drain(lines), Err(error) if error.kind() == io::ErrorKind::WouldBlock),
        );
        self.publish(lines, known);
        lines.clone()
    }

    /// The first line that fits, printed already or within `timeout`.
    pub(crate) async fn wait_for(
        &self,
        mut fits: impl FnMut(&Line) -> bool,
        timeout: Duration,
    ) -> Result<Line, Error> {
        let mut count = self.count.subscribe();
        let mut seen = 0;
        let search = async {
            loop {
                count.mark_unchanged();
                let lines = self.lines();
                if let Some(line) = lines[seen..].iter().find(|line| fits(line)) {
                    return Ok(line.clone());
                }
                seen = lines.len();
                if count.changed().await.is_err() {
                    return Err(Error::Stopped("the line was printed".into()));
                }
            }
        };
        let late = || Error::TimedOut { event: "the awaited line".into(), after: timeout };
        tokio::time::timeout(timeout, search).await.unwrap_or_else(|_| Err(late()))
    }
}

impl Source {
    /// Moves complete lines out until the stream would block (an error) or ends.
    fn drain(&mut self, lines: &mut Vec<Line>) -> io::Result<()> {
        let mut buffer = [0; 8192];
        loop {
            match self.socket.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => self.partial.extend_from_slice(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.split(lines);
                    return Err(error);
                }
                // A reset is an end like any other.
                Err(_) => break,
            }
        }
        self.split(lines);
        if !self.partial.is_empty() {
            let rest = std::mem::take(&mut self.partial);
            lines.push(self.line(&rest));
        }
        Ok(())
    }

    fn split(&mut self, lines: &mut Vec<Line>) {
        while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
            let rest = self.partial.split_off(end + 1);
            let line = std::mem::replace(&mut self.partial, rest);
            lines.push(self.line(&line[..end]));
        }
    }

    fn line(&self, bytes: &[u8]) -> Line {
        let text = String::from_utf8_lossy(bytes).trim_end_matches('\r').to_owned();
        Line { worker: self.worker, stream: self.stream, text }
    }
}
