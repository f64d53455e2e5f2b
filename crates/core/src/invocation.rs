//! What the invocation around a guarded call says: set by `service_fn`, layer and batch helpers for
//! the functions that they call, so that nobody has to pass it on and no global can mix it up.

use std::future::Future;
use std::time::Duration;

use crate::decide::Deadline;

/// What is known of the invocation that this task serves.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Invocation {
    /// When the platform will stop it.
    pub deadline: Deadline,
    /// The Lambda tenant, which is part of every record id.
    pub tenant: Option<String>,
    /// How late the event source can deliver the same work again, at its documented defaults.
    pub source_window: Option<Duration>,
    /// Whether this is one record of a batch, whose work is that record whatever its body looks like.
    pub one_record: bool,
}

impl Invocation {
    /// An invocation that is to be stopped at `deadline`.
    pub fn new(deadline: Deadline) -> Self {
        Self { deadline, ..Self::default() }
    }

    /// Names the tenant.
    #[must_use]
    pub fn tenant(mut self, tenant: Option<String>) -> Self {
        self.tenant = tenant;
        self
    }

    /// Says how late the event source can deliver the same work again.
    #[must_use]
    pub fn source_window(mut self, window: Duration) -> Self {
        self.source_window = Some(window);
        self
    }

    /// Says that this is one record of a batch. Its body may itself be an event of several records (an S3
    /// notification in a queue), and is one piece of work all the same.
    #[must_use]
    pub fn one_record(mut self) -> Self {
        self.one_record = true;
        self
    }

    /// Whether this task is known to serve an invocation. A task that was spawned from it is not: run its
    /// future in `Invocation::current().scope(…)`.
    pub fn is_set() -> bool {
        CURRENT.try_with(|_| ()).is_ok()
    }

    /// The invocation that this task serves; an empty one outside of any.
    pub fn current() -> Self {
        CURRENT.try_with(Clone::clone).unwrap_or_default()
    }

    /// `future`, within this invocation.
    pub fn scope<F: Future>(self, future: F) -> InInvocation<F> {
        CURRENT.scope(self, future)
    }
}

/// A future that runs within an [`Invocation`].
pub type InInvocation<F> = tokio::task::futures::TaskLocalFuture<Invocation, F>;

tokio::task_local! {
    static CURRENT: Invocation;
}
