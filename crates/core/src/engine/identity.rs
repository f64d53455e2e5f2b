//! Which record an input has: its id and its fingerprint.

use lambda_idempotency_key::{Fingerprint, Key, KeyError, Powertools, RecordId, Validation, source};
use serde::Serialize;

use super::json;
use super::settings::{Inner, Settings};
use crate::{Error, Invocation, MissingKey, ResultMode};

impl Settings {
    /// The identity of `input`; `None` when the key is missing and the policy lets such work run.
    ///
    /// Taken once, before the input moves into the function: what the function does to its input
    /// changes nothing.
    ///
    /// # Errors
    /// [`Error::MissingKey`], [`Error::InvalidKey`] or [`Error::InvalidInput`].
    pub fn identify<I: Serialize + ?Sized>(
        &self,
        input: &I,
        invocation: &Invocation,
    ) -> Result<Option<Identity>, Error> {
        self.identity_of(&self.json(input)?, invocation)
    }

    /// As [`Settings::identify`], of a whole Lambda event: one that holds several records is several
    /// pieces of work, and is refused; but not within the invocation of one record of a batch.
    ///
    /// # Errors
    /// As [`Settings::identify`], and [`Error::SeveralRecords`].
    pub fn identify_event<I: Serialize + ?Sized>(
        &self,
        event: &I,
        invocation: &Invocation,
    ) -> Result<Option<Identity>, Error> {
        let json = self.json(event)?;
        // An event that is not JSON with one meaning is refused with the key, in its words.
        if !invocation.one_record
            && json.contains("\"Records\"")
            && let Ok(Some(count)) = source::record_count(&json)
            && count > 1
        {
            return Err(Error::SeveralRecords { function: self.name().to_owned(), count });
        }
        self.identity_of(&json, invocation)
    }

    pub(super) fn json<I: Serialize + ?Sized>(&self, input: &I) -> Result<String, Error> {
        // NaN and the infinities are refused: all of them would be the same `null`.
        json::to_text(input)
            .map_err(|reason| Error::InvalidInput { function: self.name().to_owned(), reason })
    }

    pub(super) fn identity_of(&self, json: &str, invocation: &Invocation) -> Result<Option<Identity>, Error> {
        let function = || self.name().to_owned();
        let invalid = |source: KeyError| Error::InvalidKey { function: function(), source: source.into() };
        let hashes = Hashes::of(self, invocation)?;
        let id = match hashes.id(&self.inner.key, json) {
            Ok(id) => id,
            Err(source @ KeyError::Missing { .. }) => {
                return match self.inner.policy.missing_key {
                    MissingKey::Refuse => {
                        Err(Error::MissingKey { function: function(), source: source.into() })
                    }
                    MissingKey::RunUnprotected => Ok(None),
                };
            }
            Err(source) => return Err(invalid(source)),
        };
        let validation = hashes.validation(json).map_err(invalid)?;
        let previous = match self.inner.previous.as_ref().map(|previous| hashes.id(previous, json)) {
            Some(Ok(previous)) => Some(previous),
            // It continues nothing.
            None | Some(Err(KeyError::Missing { .. })) => None,
            Some(Err(source)) => return Err(invalid(source)),
        };
        Ok(Some(Identity { id, validation, previous }))
    }
}

/// What this library makes up for a name is in no table of Powertools.
fn nameless(name: &str) -> Error {
    let message = format!(
        "{name}: to find records of Powertools for AWS Lambda, name the function as its records are named, which is what \
         stands before the `#` in the table: \"${{AWS_LAMBDA_FUNCTION_NAME}}.app.lambda_handler\" for a function of \
         Python, \"${{AWS_LAMBDA_FUNCTION_NAME}}\" of TypeScript, or the `key_prefix` that it was given (`name = \"…\"` \
         of `#[idempotent]`, `name` of the layer)"
    );
    Error::Config { message }
}

/// How ids and fingerprints are made in one invocation.
struct Hashes<'a> {
    settings: &'a Inner,
    tenant: Option<&'a str>,
    powertools: Option<Powertools>,
}

impl<'a> Hashes<'a> {
    /// # Errors
    /// [`Error::Config`] where the ids of Powertools would not keep apart what has to be, or would not be secret.
    fn of(settings: &'a Settings, invocation: &'a Invocation) -> Result<Self, Error> {
        let inner = &*settings.inner;
        let hashes = Self {
            settings: inner,
            tenant: invocation.tenant.as_deref(),
            powertools: inner.policy.powertools,
        };
        let refuse = |what: &str, why: &str| {
            let message = format!(
                "{}: {what} does not go with records of Powertools for AWS Lambda, {why}; leave it out, or \
                 `Policy::powertools`",
                settings.name()
            );
            Err(Error::Config { message })
        };
        let ids = "whose ids know of none";
        let results = "whose readers would take what is stored for the result";
        match hashes.powertools {
            Some(_) if inner.name_is_default => Err(nameless(settings.name())),
            Some(_) if hashes.tenant.is_some_and(|tenant| !tenant.is_empty()) => refuse("a tenant", ids),
            Some(_) if inner.secret.is_some() => refuse("a secret", ids),
            Some(_) if inner.policy.result_mode != ResultMode::Full => {
                refuse("another `ResultMode`", results)
            }
            Some(_) if inner.cipher.is_some() => refuse("encryption", results),
            Some(_) if inner.offload.is_some() => refuse("a place for large results", results),
            Some(powertools) => {
                let keys = [Some(&inner.key), inner.previous.as_ref()].into_iter().flatten();
                let checked = keys.map(|key| powertools.check_key(key));
                let fingerprint = inner.fingerprint.iter().map(|it| powertools.check_fingerprint(it));
                let refused = checked.chain(fingerprint).find_map(Result::err);
                let config = |error| Error::Config { message: format!("{}: {error}", settings.name()) };
                refused.map_or(Ok(hashes), |error| Err(config(error)))
            }
            None => Ok(hashes),
        }
    }

    fn id(&self, key: &Key, json: &str) -> Result<RecordId, KeyError> {
        let Inner { name, secret, .. } = self.settings;
        match self.powertools {
            Some(powertools) => powertools.record_id(name, key, json),
            None => Ok(RecordId::new(name, self.tenant, &key.of(json)?, secret.as_ref())),
        }
    }

    fn validation(&self, json: &str) -> Result<Option<Validation>, KeyError> {
        let Inner { fingerprint, secret, .. } = self.settings;
        match self.powertools {
            Some(powertools) => powertools.validation(fingerprint.as_ref(), json),
            None => fingerprint.as_ref().unwrap_or(&Fingerprint::Whole).of_with(json, secret.as_ref()),
        }
    }
}

/// Which record an input has, and what its content is.
#[derive(Clone, Debug)]
pub struct Identity {
    pub(crate) id: RecordId,
    pub(crate) validation: Option<Validation>,
    /// The record of the work that this one continues.
    pub(crate) previous: Option<RecordId>,
}

impl Identity {
    /// The id under which the record is stored.
    pub fn id(&self) -> &RecordId {
        &self.id
    }

    /// The fingerprint of the content; `None` when it is switched off.
    pub fn validation(&self) -> Option<&Validation> {
        self.validation.as_ref()
    }
}
