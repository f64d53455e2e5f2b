//! A tower layer around the handler: no macro, and replays are the very bytes of the first answer.

mod service;

use std::marker::PhantomData;
use std::sync::Arc;

use lambda_idempotency_core::{Settings, Text, clock};
use serde_json::Value;
use serde_json::value::RawValue;
use tower::Layer;

use crate::refused::OnRefused;
use crate::{Clock, Error, Fingerprint, Key, Policy, Replay, Store, installed};

pub use service::IdempotencyService;

/// Guards a Lambda handler service as a whole.
///
/// The event type `A` is the handler's own and is found by the compiler. Key and fingerprint are taken
/// from the bytes of the event, so `A` needs no [`Raw`](crate::Raw). Errors leave as through
/// [`service_fn`](crate::service_fn). The handler's response is recorded as JSON, so it cannot be a stream.
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
    results: Text,
    on_replay: Option<OnReplay>,
    on_refused: Option<OnRefused>,
}

type OnReplay = fn(&mut Value, &Replay);

impl<A> IdempotencyLayer<A> {
    /// A layer that guards by `key` under the name of the Lambda function (`AWS_LAMBDA_FUNCTION_NAME`).
    ///
    /// # Errors
    /// [`Error::Config`] when the policy contradicts itself or the function's name cannot be a scope.
    pub fn new(store: impl Store + 'static, key: Key, policy: Policy) -> Result<Self, Error> {
        let settings = Settings::new(&default_name(), key)?.with_default_name().policy(policy)?;
        let guard = Guard {
            settings: installed::applied_to(settings)?,
            store: Arc::new(store),
            clock: clock::current(),
            results: Text::new(),
            on_replay: None,
            on_refused: None,
        };
        Ok(Self { guard, event: PhantomData })
    }

    /// Another scope of the key: it stays the same when the Lambda function is renamed.
    /// `${AWS_LAMBDA_FUNCTION_NAME}` in it stands for the Lambda function's name.
    ///
    /// # Errors
    /// [`Error::Config`] when `name` is empty, too long, holds a `#`, or stands for a name that is not known.
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

    /// Which responses are answers for everybody; all unless set. The key of another is given back, so that the
    /// next attempt is real. [`proxy::is_answer`](crate::proxy::is_answer) is one for HTTP responses.
    ///
    /// ```
    /// use lambda_idempotency::{IdempotencyLayer, Key, MemoryStore, Policy, proxy};
    ///
    /// # type Event = serde_json::Value;
    /// let key = Key::parse("header(headers, 'idempotency-key')")?;
    /// let layer: IdempotencyLayer<Event> = IdempotencyLayer::new(MemoryStore::new(), key, Policy::new())?
    ///     .store_if(proxy::is_answer)
    ///     .on_replay(|response, _| {
    ///         proxy::set_header(response, "x-idempotent-replayed", "true");
    ///         proxy::remove_headers(response, &["date", "set-cookie"]);
    ///     });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn store_if(mut self, is_answer: fn(&RawValue) -> bool) -> Self {
        self.guard.results = self.guard.results.store_if(is_answer);
        self
    }

    /// Changes each replayed response on its way out, never that of a first run; the record is untouched. Only
    /// without it are replays the very bytes of the first answer: a changed one is written anew from a `Value`, in
    /// which numbers beyond 64 bits or 17 digits are rounded and a member that was there twice is there once.
    #[must_use]
    pub fn on_replay(mut self, change: fn(&mut Value, &Replay)) -> Self {
        self.guard.on_replay = Some(change);
        self
    }

    /// Answers errors of this library with a response, where the event is an HTTP request: those of this layer, and
    /// those of guarded functions that the handler calls, if [`Error::find`] finds them in the handler's error. `None`
    /// leaves the error, and so do all other errors. [`proxy::problem`](crate::proxy::problem) is a response for each
    /// that a client can do something about.
    ///
    /// ```
    /// use lambda_idempotency::{IdempotencyLayer, Key, MemoryStore, Policy, proxy};
    ///
    /// # type Event = serde_json::Value;
    /// let key = Key::parse("header(multiValueHeaders || headers, 'idempotency-key')")?;
    /// let layer: IdempotencyLayer<Event> =
    ///     IdempotencyLayer::new(MemoryStore::new(), key, Policy::new())?.on_refused(proxy::problem);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The refusal is not recorded, and its log line and metrics are what they are without this; but the invocation is
    /// a success for Lambda, and in its metric `Errors` too.
    ///
    /// **Queues, streams and buses.** Their pollers take a response for success: a refused message would be deleted
    /// although nothing was done. So only an event that is known as a request of API Gateway (REST, HTTP), a
    /// function URL or a load balancer is answered, and every other stays an error: also a test's event that is not
    /// written as AWS writes it, a WebSocket message and a request through VPC Lattice.
    ///
    /// An event that does not fit `A` stays an error as well ([`Error::UnreadableEvent`]): handler and trigger do not
    /// go together, and only a failed invocation says so. Behind a load balancer whose target group has multi-value
    /// headers, the response's `headers` are moved to `multiValueHeaders`, where it reads them.
    #[must_use]
    pub fn on_refused(mut self, answer: fn(&Error) -> Option<Value>) -> Self {
        self.guard.on_refused = Some(answer);
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
