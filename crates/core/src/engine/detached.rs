//! A guarded call that goes on when its caller does not.

use std::future::Future;
use std::panic::resume_unwind;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::Instrument;
use tracing::instrument::WithSubscriber;

use super::{Engine, Typed};
use crate::scopes::Scopes;
use crate::{Attempt, Error, Invocation, Outcome, RunError};

impl Engine {
    /// As [`Engine::run`], in a task of its own: once it has begun, dropping the returned future (a `timeout`,
    /// a `select!`, a client that hangs up) stops only the waiting. Work and completion go on, so that the
    /// next delivery finds the answer instead of a claim that nobody holds.
    ///
    /// Invocation, log span and testing scopes are carried into the task; other task-local values are not.
    /// It begins when the future is first polled, and needs a tokio runtime.
    ///
    /// **On Lambda** it outlives its caller only until the invocation has been answered. Then the environment
    /// is frozen and the task with it, to go on minutes later beside another event, or never. It helps within
    /// an invocation; whatever comes after the answer is left to the lease, as when the process dies: nobody
    /// repeats the work before the lease has passed, and somebody does then.
    ///
    /// ```
    /// use lambda_idempotency_core::{Engine, Key, MemoryStore};
    /// use std::time::Duration;
    /// use tokio::time::{sleep, timeout};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let engine = Engine::new("reports", MemoryStore::new(), Key::parse("id")?)?;
    /// let report = serde_json::json!({"id": 1});
    /// let work = |_| async {
    ///     sleep(Duration::from_millis(200)).await;
    ///     Ok::<_, std::io::Error>("done".to_owned())
    /// };
    /// assert!(timeout(Duration::from_millis(50), engine.run_detached(&report, work)).await.is_err());
    /// sleep(Duration::from_secs(1)).await;
    /// assert!(engine.run_detached(&report, work).await?.is_replayed());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Engine::run`], and [`Error::Config`] when the runtime that the work ran on is shut down.
    ///
    /// # Panics
    /// As [`Engine::run`], and when polled outside of a tokio runtime.
    pub fn run_detached<I, T, E, F, Fut>(
        &self,
        input: &I,
        work: F,
    ) -> impl Future<Output = Result<Outcome<T>, RunError<E>>> + Send + use<I, T, E, F, Fut>
    where
        I: Serialize + ?Sized,
        T: Serialize + DeserializeOwned + Send + 'static,
        E: Send + 'static,
        F: FnOnce(Attempt) -> Fut + Send + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
    {
        // As text, so that the input need not be owned.
        let json = self.settings.json(input);
        let (settings, store, clock) =
            (self.settings.clone(), Arc::clone(&self.store), Arc::clone(&self.clock));
        async move {
            let name = settings.name().to_owned();
            let identity = json.and_then(|json| settings.identity_of(&json, &Invocation::current()));
            let results = Typed::new();
            let run = async move { settings.run(&*store, clock, identity, &results, work).await };
            let run = Scopes::current().run(run).in_current_span().with_current_subscriber();
            match tokio::spawn(run).await {
                Ok(ended) => ended,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => resume_unwind(panic),
                    Err(_) => Err(Error::Config {
                        message: format!(
                            "{name}: the runtime of this detached call was shut down; its claim holds until its lease has passed"
                        ),
                    }
                    .into()),
                },
            }
        }
    }
}
