//! What a task inherits from the one that spawns it: nothing, unless it is carried over.

use std::future::Future;
use std::sync::Arc;

use crate::observe::{self, Seen};
use crate::{Attempt, Clock, Invocation, Store, clock};

tokio::task_local! {
    static STORE: Arc<dyn Store>;
}

/// The store that [`with_store`] set for this task.
#[doc(hidden)]
pub fn store() -> Option<Arc<dyn Store>> {
    STORE.try_with(Arc::clone).ok()
}

/// Runs `future` with `store` as the installed store of every annotated function that it calls.
#[doc(hidden)]
pub async fn with_store<F: Future>(store: Arc<dyn Store>, future: F) -> F::Output {
    STORE.scope(store, future).await
}

/// Everything that is bound to the task.
#[derive(Debug)]
pub(crate) struct Scopes {
    invocation: Option<Invocation>,
    attempt: Option<Attempt>,
    clock: Option<Arc<dyn Clock>>,
    store: Option<Arc<dyn Store>>,
    seen: Option<Seen>,
}

impl Scopes {
    /// Those of this task.
    pub(crate) fn current() -> Self {
        Self {
            invocation: Invocation::is_set().then(Invocation::current),
            attempt: Attempt::current(),
            clock: clock::scoped(),
            store: store(),
            seen: observe::seen(),
        }
    }

    /// Runs `future` within them, in whatever task.
    pub(crate) async fn run<F: Future>(self, future: F) -> F::Output {
        // On the heap: each of the two ways of each scope would else keep room for the whole of it.
        let future = Box::pin(future);
        // Each scope only where there is one: an empty one would hide that there is none.
        let future = async {
            match self.store {
                Some(store) => with_store(store, future).await,
                None => future.await,
            }
        };
        let future = async {
            match self.clock {
                Some(clock) => clock::scope(clock, future).await,
                None => future.await,
            }
        };
        let future = async {
            match self.attempt {
                Some(attempt) => attempt.scope(future).await,
                None => future.await,
            }
        };
        let future = async {
            match self.seen {
                Some(seen) => observe::with_seen(seen, future).await,
                None => future.await,
            }
        };
        match self.invocation {
            Some(invocation) => invocation.scope(future).await,
            None => future.await,
        }
    }
}
