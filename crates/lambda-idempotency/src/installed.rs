//! What the annotated functions and layers of this process share, each set once at the start of `main`.

use std::sync::{Arc, OnceLock};

use lambda_idempotency_core::{Settings, scopes, switch};

use crate::{Cipher, Error, MemoryStore, Observer, Offload, Secret, Store};

static STORE: OnceLock<Arc<dyn Store>> = OnceLock::new();
static SECRET: OnceLock<Secret> = OnceLock::new();
static CIPHER: OnceLock<Arc<dyn Cipher>> = OnceLock::new();
static OFFLOAD: OnceLock<Arc<dyn Offload>> = OnceLock::new();
static OBSERVER: OnceLock<Arc<dyn Observer>> = OnceLock::new();

/// Sets the store of this process, once, before the first event.
///
/// ```
/// use lambda_idempotency::{MemoryStore, install};
///
/// install(MemoryStore::new())?;
/// assert!(install(MemoryStore::new()).is_err());
/// # Ok::<(), lambda_idempotency::Error>(())
/// ```
///
/// # Errors
/// [`Error::Config`] when a store is installed already (two stores would hold two records of one work),
/// or when `IDEMPOTENCY_DISABLED` is not understood.
pub fn install(store: impl Store + 'static) -> Result<(), Error> {
    switch::disabled()?;
    let more = "; a function with a store of its own names it with `store = …`";
    set(&STORE, Arc::new(store), "store", "install", more)
}

/// Makes the record ids and fingerprints of this process's annotated functions and layers by HMAC with `secret`, so
/// that keys and inputs with little in them (`order-77-v3`) cannot be found from the table by trying. Once, before layers are made
/// and events come; every writer of one table needs the same secret, and another secret is another set of records.
///
/// ```
/// use lambda_idempotency::{Secret, install_secret};
///
/// install_secret(Secret::new("from a secret store, 16 bytes at least")?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Config`] when a secret is installed already.
pub fn install_secret(secret: Secret) -> Result<(), Error> {
    set(&SECRET, secret, "secret", "install_secret", "")
}

/// Encrypts the results of this process's annotated functions and layers before they go to the store.
/// Once, before layers are made and events come; every process that reads a table's results needs the
/// same key. Records that were written before are read as they are.
///
/// ```
/// # #[cfg(feature = "encryption")] {
/// use lambda_idempotency::{Aes256Gcm, install_cipher};
///
/// # let key = [7; 32];
/// install_cipher(Aes256Gcm::new(&key))?; // 32 bytes from a secret store
/// # }
/// # Ok::<(), lambda_idempotency::Error>(())
/// ```
///
/// # Errors
/// [`Error::Config`] when a cipher is installed already.
pub fn install_cipher(cipher: impl Cipher + 'static) -> Result<(), Error> {
    set(&CIPHER, Arc::new(cipher), "cipher", "install_cipher", "")
}

/// Keeps the results of this process's annotated functions and layers elsewhere where they are too large for
/// the store, or larger than [`Policy::offload_over`](crate::Policy::offload_over). Once, before layers are made
/// and events come; every process that reads the results needs the same place.
///
/// # Errors
/// [`Error::Config`] when there is one already.
pub fn install_offload(offload: impl Offload + 'static) -> Result<(), Error> {
    set(&OFFLOAD, Arc::new(offload), "place for large results", "install_offload", "")
}

/// Tells `observer` of each call of this process's annotated functions and layers: a counter for each outcome,
/// [`EmfMetrics`](crate::EmfMetrics) say. Once, before layers are made and events come.
///
/// ```
/// use lambda_idempotency::{EmfMetrics, install_observer};
///
/// install_observer(EmfMetrics::new("orders"))?;
/// # Ok::<(), lambda_idempotency::Error>(())
/// ```
///
/// # Errors
/// [`Error::Config`] when there is one already.
pub fn install_observer(observer: impl Observer + 'static) -> Result<(), Error> {
    set(&OBSERVER, Arc::new(observer), "observer", "install_observer", "")
}

fn set<T>(cell: &OnceLock<T>, value: T, what: &str, function: &str, more: &str) -> Result<(), Error> {
    cell.set(value).map_err(|_| Error::Config {
        message: format!(
            "a {what} is installed already: call `lambda_idempotency::{function}` once, at the start of `main`{more}"
        ),
    })
}

/// The settings of a function or layer, with all that is installed but the store.
pub(crate) fn applied_to(settings: Settings) -> Result<Settings, Error> {
    settings
        .secret(secret())
        .observer(observer())
        .cipher(CIPHER.get().cloned())?
        .offload(OFFLOAD.get().cloned())
}

/// Who is told of each call of this process.
pub(crate) fn observer() -> Option<Arc<dyn Observer>> {
    OBSERVER.get().cloned()
}

/// The secret of this process.
pub(crate) fn secret() -> Option<Secret> {
    SECRET.get().cloned()
}

/// The store of this task or process.
pub(crate) fn store() -> Result<Arc<dyn Store>, Error> {
    if let Some(store) = scopes::store().or_else(|| STORE.get().cloned()) {
        return Ok(store);
    }
    if switch::disabled()? {
        // Never asked.
        return Ok(Arc::new(MemoryStore::new()));
    }
    Err(Error::Config {
        message: "no store is installed: call `lambda_idempotency::install(store)` at the start of `main`, \
                  or name one with `#[idempotent(store = …)]`"
            .to_owned(),
    })
}
