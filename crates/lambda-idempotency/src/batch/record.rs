//! One record of a batch.

use std::collections::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};

use serde::{Serialize, Serializer};

use crate::Raw;

/// The body of one record, typed and as the text that was sent, and the id the broker gave it.
///
/// Derefs to `T`; serialises as the body's text, so that `input = record` takes key and fingerprint
/// from the bytes that the producer sent.
#[derive(Clone)]
pub struct Record<T> {
    body: Raw<T>,
    message_id: String,
    attributes: HashMap<String, String>,
}

impl<T> Record<T> {
    /// A record as a batch helper makes it; also for tests.
    pub fn new(message_id: impl Into<String>, body: Raw<T>) -> Self {
        Self { body, message_id: message_id.into(), attributes: HashMap::new() }
    }

    /// The broker's id of this message. The same at a redelivery but another one for the producer's
    /// second send, so it is no key.
    pub fn message_id(&self) -> &str {
        &self.message_id
    }

    /// The same record with the broker's attributes.
    #[must_use]
    pub fn with_attributes(mut self, attributes: HashMap<String, String>) -> Self {
        self.attributes = attributes;
        self
    }

    /// An attribute that the broker gave the message (`ApproximateReceiveCount`, `MessageGroupId`, …). They
    /// are no part of the input: most of them change with each delivery.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    /// How often SQS has delivered the message, this time included, as far as it says.
    pub fn receive_count(&self) -> Option<u32> {
        self.attribute("ApproximateReceiveCount")?.parse().ok()
    }

    /// The body, typed and as text.
    pub fn body(&self) -> &Raw<T> {
        &self.body
    }

    /// The typed body alone.
    pub fn into_inner(self) -> T {
        self.body.into_inner()
    }
}

impl<T> Deref for Record<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.body
    }
}

impl<T> DerefMut for Record<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.body
    }
}

impl<T> Serialize for Record<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.body.serialize(serializer)
    }
}

impl<T> fmt::Debug for Record<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record").field("message_id", &self.message_id).field("body", &self.body).finish()
    }
}
