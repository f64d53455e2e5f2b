use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;

/// Everything that this library logs on the thread of a test, at every level.
#[derive(Clone, Debug, Default)]
pub struct Capture(Arc<Mutex<Vec<Entry>>>);

/// One event or span.
#[derive(Clone, Debug)]
pub struct Entry {
    /// `INFO`, `WARN`, …
    pub level: String,
    /// Its fields as text.
    pub fields: BTreeMap<String, String>,
}

impl Capture {
    /// Captures until the guard is dropped.
    pub fn start() -> (Self, DefaultGuard) {
        let capture = Self::default();
        let guard = tracing::subscriber::set_default(Registry::default().with(capture.clone()));
        (capture, guard)
    }

    /// All that was logged.
    pub fn entries(&self) -> Vec<Entry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The lines that say what became of a call.
    pub fn reports(&self) -> Vec<Entry> {
        self.entries().into_iter().filter(|entry| entry.fields.contains_key("outcome")).collect()
    }

    fn keep(&self, metadata: &tracing::Metadata<'_>, record: impl FnOnce(&mut Entry)) {
        if !metadata.target().starts_with("lambda_idempotency") {
            return;
        }
        let mut entry = Entry { level: metadata.level().to_string(), fields: BTreeMap::new() };
        record(&mut entry);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }
}

impl<S: Subscriber> Layer<S> for Capture {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        self.keep(event.metadata(), |entry| event.record(entry));
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        self.keep(attributes.metadata(), |entry| attributes.record(entry));
    }

    fn on_record(&self, _: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut entry = Entry { level: "RECORD".into(), fields: BTreeMap::new() };
        values.record(&mut entry);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }
}

impl Visit for Entry {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name().to_owned(), format!("{value:?}"));
    }
}
