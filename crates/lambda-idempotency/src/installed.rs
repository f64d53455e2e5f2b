//! The store that annotated functions use when they name none.

use std::sync::{Arc, OnceLock};

use lambda_idempotency_core::{scopes, switch};

use crate::{Cipher, Error, MemoryStore, Secret, Store};

static INSTALLED: OnceLock<Arc<dyn Store>> = OnceLock::new();

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
    INSTALLED.set(Arc::new(store)).map_err(|_| Error::Config {
        message:
            "a store is installed already: call `lambda_idempotency::install` once, at the start of `main`; \
                  a function with a store of its own names it with `store = …`"
                .to_owned(),
    })
}

static SECRET: OnceLock<Secret> = OnceLock::new();

/// Makes the record ids of this process's annotated functions and layers by HMAC with `secret`, so that keys with
/// little in them (`order-77-v3`) cannot be found from the table by trying. Once, before layers are made
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
    SECRET.set(secret).map_err(|_| Error::Config {
        message: "a secret is installed already: call `lambda_idempotency::install_secret` once, at the start of `main`"
            .to_owned(),
    })
}

static CIPHER: OnceLock<Arc<dyn Cipher>> = OnceLock::new();

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
    CIPHER.set(Arc::new(cipher)).map_err(|_| Error::Config {
        message: "a cipher is installed already: call `lambda_idempotency::install_cipher` once, at the start of `main`"
            .to_owned(),
    })
}

/// The cipher of this process.
pub(crate) fn cipher() -> Option<Arc<dyn Cipher>> {
    CIPHER.get().cloned()
}

/// The secret of this process.
pub(crate) fn secret() -> Option<Secret> {
    SECRET.get().cloned()
}

/// The store of this task or process.
pub(crate) fn store() -> Result<Arc<dyn Store>, Error> {
    if let Some(store) = scopes::store().or_else(|| INSTALLED.get().cloned()) {
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
