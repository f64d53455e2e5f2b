//! A tower layer around the handler: no macro, and replays are the very bytes of the first answer.

mod service;

use std::marker::PhantomData;
use std::sync::Arc;

use lambda_idempotency_core::{Settings, clock};
use tower::Layer;

use crate::{Clock, Error, Fingerprint, Key, Policy, Store, installed};

pub use service::IdempotencyService;

/// Guards a Lambda handler service as a whole.
///
/// The event type `A` is the handler's own and is found by the compiler. Key and fingerprint are taken
/// from the bytes of the event, so `A` needs no [`Raw`](crate::Raw). Errors leave as through
/// [`service_fn`](crate::service_fn).
///
/// ```no_run
/// use lambda_idempotency::{DynamoDbStore, IdempotencyLayer, Key, Policy};
/// use lambda_runtime::{Error, LambdaEvent, run};
/// use serde_json::Value;
/// use tower::ServiceBuilder;
///
/// async fn handler(event: LambdaEvent<Value>) -> Result<Value, Error> {
///     Ok(event.payload)
/// }
///
/// #[tokio::main]
/// async fn main() -> Result<(), Error> {
///     let store = DynamoDbStore::from_env().await?;
///     let layer = IdempotencyLayer::new(store, Key::parse("order_id")?, Policy::new())?;
///     run(ServiceBuilder::new().layer(layer).service_fn(handler)).await
/// }
/// ```
#[derive(Debug)]
pub struct IdempotencyLayer<A> {
    guard: Guard,
    event: PhantomData<fn(A)>,
}

/// What layer and service share.
#[derive(Clone, Debug)]
struct Guard {
    settings: Settings,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl<A> IdempotencyLayer<A> {
    /// A layer that guards by `key` under the name of the Lambda function (`AWS_LAMBDA_FUNCTION_NAME`).
    ///
    /// # Errors
    /// [`Error::Config`] when the policy contradicts itself or the function's name cannot be a scope.
    pub fn new(store: impl Store + 'static, key: Key, policy: Policy) -> Result<Self, Error> {
        let settings = Settings::new(&default_name(), key)?
            .secret(installed::secret())
            .cipher(installed::cipher())
            .policy(policy)?;
        let guard = Guard { settings, store: Arc::new(store), clock: clock::current() };
        Ok(Self { guard, event: PhantomData })
    }

    /// Another scope of the key: it stays the same when the Lambda function is renamed.
    ///
    /// # Errors
    /// [`Error::Config`] when `name` is empty, too long or holds a `#`.
    pub fn name(mut self, name: &str) -> Result<Self, Error> {
        self.guard.settings = self.guard.settings.renamed(name)?;
        Ok(self)
    }

    /// What counts as the same content. The whole event, less what changes per delivery, unless set.
    #[must_use]
    pub fn fingerprint(mut self, fingerprint: Fingerprint) -> Self {
        self.guard.settings = self.guard.settings.fingerprint(fingerprint);
        self
    }

    /// Where the time comes from. The machine's clock unless set.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.guard.clock = clock;
        self
    }
}

fn default_name() -> String {
    let name = std::env::var("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_default();
    if name.is_empty() { "handler".to_owned() } else { format!("{name}.handler") }
}

// By hand: a derived `Clone` would ask for `A: Clone`.
impl<A> Clone for IdempotencyLayer<A> {
    fn clone(&self) -> Self {
        Self { guard: self.guard.clone(), event: PhantomData }
    }
}

impl<S, A> Layer<S> for IdempotencyLayer<A> {
    type Service = IdempotencyService<S, A>;

    fn layer(&self, inner: S) -> Self::Service {
        IdempotencyService::new(self.guard.clone(), inner)
    }
}
