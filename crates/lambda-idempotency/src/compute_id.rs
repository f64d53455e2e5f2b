//! The id of one input's record, for support people.

use lambda_idempotency_core::Settings;
use serde::Serialize;

use crate::{Error, Fingerprint, Invocation, Key, MissingKey, Policy, RecordId, installed};

/// The id under which the record of `input` is stored, for a function called `name` whose key is `key`:
/// what support needs to find one record. Uses the installed secret and the tenant of this invocation, and
/// takes a key that is new at every delivery as well.
///
/// ```
/// use lambda_idempotency::compute_id;
///
/// let order = serde_json::json!({"order_id": 77, "version": 3});
/// let id = compute_id("orders.submit", "[order_id, version]", &order)?;
/// assert!(id.as_str().starts_with("orders.submit#"));
/// # Ok::<(), lambda_idempotency::Error>(())
/// ```
///
/// # Errors
/// [`Error::Config`] when name or key cannot be one, [`Error::MissingKey`], [`Error::InvalidKey`] or
/// [`Error::InvalidInput`] when the input has no such key.
pub fn compute_id<I: Serialize + ?Sized>(name: &str, key: &str, input: &I) -> Result<RecordId, Error> {
    compute_id_with(&Policy::new(), name, key, input)
}

/// As [`compute_id`], for a function under a policy that says how ids are made ([`Policy::powertools`]).
///
/// ```
/// use lambda_idempotency::{Policy, Powertools, compute_id_with};
///
/// let policy = Policy::new().powertools(Powertools::python());
/// let id = compute_id_with(&policy, "orders.app.handler", "user_id", &serde_json::json!({"user_id": "u-1"}))?;
/// assert_eq!(id.as_str(), "orders.app.handler#10f26c3616ad9e875bf989e28557f7a1");
/// # Ok::<(), lambda_idempotency::Error>(())
/// ```
///
/// # Errors
/// As [`compute_id`].
pub fn compute_id_with<I: Serialize + ?Sized>(
    policy: &Policy,
    name: &str,
    key: &str,
    input: &I,
) -> Result<RecordId, Error> {
    // Whether such a key is wise was decided where the function is annotated.
    let key =
        Key::parse_allowing_volatile(key).map_err(|error| Error::Config { message: error.to_string() })?;
    let settings = Settings::new(name, key)?.fingerprint(Fingerprint::Off).secret(installed::secret());
    let settings = settings.policy(policy.clone().missing_key(MissingKey::Refuse))?;
    let identity = settings.identify(input, &Invocation::current())?;
    // Only a policy can let a missing key pass, and this one does not.
    identity
        .map(|identity| identity.id().clone())
        .ok_or_else(|| Error::Config { message: format!("{name}: the input has no key") })
}
