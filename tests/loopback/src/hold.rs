use std::time::Duration;

use tokio::sync::{oneshot, watch};

use crate::Error;

/// How long [`Held::arrived`] waits before it says that nothing came.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request that will be stopped on its way, so that a test decides when it goes on.
///
/// It goes on when it is [answered](Held::answer) or when this is dropped.
#[derive(Debug)]
pub struct Held<T> {
    what: String,
    arrived: watch::Receiver<Option<T>>,
    _release: oneshot::Sender<()>,
}

impl<T: Clone> Held<T> {
    /// Waits until the request is there and standing still; at most 30 seconds.
    pub async fn arrived(&self) -> Result<T, Error> {
        let mut arrived = self.arrived.clone();
        let waiting = arrived.wait_for(Option::is_some);
        let stopped = || Error::Stopped(self.what.clone());
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(Ok(request)) => request.clone().ok_or_else(stopped),
            Ok(Err(_)) => Err(stopped()),
            Err(_) => Err(Error::TimedOut { event: self.what.clone(), after: PATIENCE }),
        }
    }

    /// Whether the request is there.
    pub fn has_arrived(&self) -> bool {
        self.arrived.borrow().is_some()
    }

    /// Lets the request go on. One that has not arrived yet will not be held.
    pub fn answer(self) {}
}

/// The server's side of a [`Held`].
#[derive(Debug)]
pub(crate) struct Hold<T> {
    arrived: watch::Sender<Option<T>>,
    released: oneshot::Receiver<()>,
}

impl<T> Hold<T> {
    /// Both sides; `what` names the request in errors.
    pub(crate) fn new(what: String) -> (Held<T>, Hold<T>) {
        let (arrived_tx, arrived) = watch::channel(None);
        let (release, released) = oneshot::channel();
        (Held { what, arrived, _release: release }, Hold { arrived: arrived_tx, released })
    }

    /// Whether nobody is interested any more.
    pub(crate) fn is_abandoned(&mut self) -> bool {
        !matches!(self.released.try_recv(), Err(oneshot::error::TryRecvError::Empty))
    }

    /// Reports the arrival and returns when the other side lets go.
    pub(crate) async fn wait(self, request: T) {
        self.arrived.send_replace(Some(request));
        // An error is the drop of the other side: that is how it lets go.
        let _ = self.released.await;
    }
}
