//! The two attributes that hold a result: `data`, and `encoding` where `data` is not its JSON text.
//!
//! `encoding` lists the steps by which `data` was made of the JSON text, in order and joined by `+`
//! (`gzip`, then the cipher's name); with any step, `data` is base64. A last step `<place>:<bytes>` says that
//! what the others made of those bytes of JSON is kept elsewhere, and `data` is where. `omitted:<bytes>` is a
//! result that was left out. `native` is JSON text that the store keeps in its own
//! types, if it has any; `json` is text that it could not.

use std::borrow::Cow;
use std::io::{Read, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::{Cipher, CipherError, JsonFault, Record, ResultMode};

const OMITTED: &str = "omitted";
/// Names that mean something else.
pub(super) const RESERVED_STEPS: [&str; 4] = [OMITTED, GZIP, Record::NATIVE, Record::JSON];
/// Between two steps.
const BETWEEN: &str = "+";
const GZIP: &str = "gzip";
/// The most that a stored result is expanded to. Lambda's own answers end at 6 MB.
const MOST: u64 = 64 * 1024 * 1024;

/// How results are written and read.
#[derive(Clone, Copy)]
pub(super) struct Encoding<'a> {
    pub(super) mode: ResultMode,
    pub(super) cipher: Option<&'a dyn Cipher>,
    /// The store's location, to which ciphertexts are bound.
    pub(super) location: &'a str,
    /// Whether results are kept in the store's own types, so that a string is the result itself and not its JSON text.
    pub(super) native: bool,
}

/// What became of a stored result.
pub(super) enum Stored<'a> {
    /// Its JSON text.
    Json(Cow<'a, str>),
    /// It was left out; its size in bytes.
    Omitted(u64),
    /// It is kept at another place.
    Elsewhere {
        place: &'a str,
        reference: &'a str,
        /// The size of its JSON text in bytes.
        bytes: u64,
        /// The steps that were taken before.
        steps: &'a str,
    },
}

/// A result ready to be kept.
pub(super) struct Packed<'a> {
    /// Its JSON text, or what the steps made of it.
    pub(super) bytes: Cow<'a, [u8]>,
    json: &'a str,
    steps: Vec<&'a str>,
    native: bool,
}

impl Packed<'_> {
    /// Into the record itself.
    pub(super) fn inline(&self, record: &mut Record) {
        if self.steps.is_empty() {
            record.data = Some(self.json.to_owned());
            record.encoding = self.native.then(|| Record::NATIVE.to_owned());
        } else {
            record.data = Some(STANDARD.encode(&self.bytes));
            record.encoding = Some(self.steps.join(BETWEEN));
        }
    }

    /// Into the record, that it is kept at `place` under `reference`.
    pub(super) fn elsewhere(&self, record: &mut Record, place: &str, reference: String) {
        let last = format!("{place}:{}", self.json.len());
        record.data = Some(reference);
        record.encoding = Some(self.steps.iter().copied().chain([&*last]).collect::<Vec<_>>().join(BETWEEN));
    }
}

impl<'a> Encoding<'a> {
    /// The form in which `json` is kept; `None` where only the marker is.
    pub(super) fn pack(&self, record: &Record, json: &'a str) -> Result<Option<Packed<'a>>, CipherError> {
        if self.mode == ResultMode::MarkerOnly {
            return Ok(None);
        }
        let mut steps = Vec::new();
        let mut bytes = Cow::Borrowed(json.as_bytes());
        if self.mode == ResultMode::Compressed
            && let Some(smaller) = compressed(json).filter(|smaller| base64_len(smaller) < json.len())
        {
            bytes = Cow::Owned(smaller);
            steps.push(GZIP);
        }
        if let Some(cipher) = self.cipher {
            bytes = Cow::Owned(cipher.encrypt(&bytes, &self.associated(record))?);
            steps.push(cipher.name());
        }
        Ok(Some(Packed { bytes, json, steps, native: self.native }))
    }

    /// The result that a final record holds, however it was written, or where it is.
    pub(super) fn get<'r>(&self, record: &'r Record) -> Result<Stored<'r>, JsonFault> {
        let data = record.data.as_deref().unwrap_or("null");
        let encoding = match record.encoding.as_deref() {
            None => return self.plain(record),
            Some(Record::NATIVE | Record::JSON) => return Ok(Stored::Json(Cow::Borrowed(data))),
            Some(encoding) => encoding,
        };
        let (steps, last) = encoding.rsplit_once(BETWEEN).unwrap_or(("", encoding));
        if let Some((place, bytes)) = last.split_once(':') {
            let bytes = bytes.parse().map_err(|_| JsonFault::UNKNOWN_ENCODING)?;
            return Ok(match place {
                // With data it is another writer's, who knows of no encoding and left ours beside it.
                OMITTED if record.data.is_some() => return self.plain(record),
                OMITTED => Stored::Omitted(bytes),
                _ => Stored::Elsewhere { place, reference: data, bytes, steps },
            });
        }
        let bytes = STANDARD.decode(data).map_err(|_| JsonFault::DAMAGED)?;
        self.unpack(record, encoding, bytes).map(|json| Stored::Json(Cow::Owned(json)))
    }

    /// The result of a record that says nothing of its encoding.
    fn plain<'r>(&self, record: &'r Record) -> Result<Stored<'r>, JsonFault> {
        Ok(Stored::Json(match record.data.as_deref() {
            Some(text) if self.native => Cow::Owned(super::json::to_text(text)?),
            // `status` says that it is complete; no data is the result "nothing".
            data => Cow::Borrowed(data.unwrap_or("null")),
        }))
    }

    /// The JSON text of which these steps made `bytes`.
    pub(super) fn unpack(
        &self,
        record: &Record,
        steps: &str,
        mut bytes: Vec<u8>,
    ) -> Result<String, JsonFault> {
        for step in steps.rsplit(BETWEEN).filter(|step| !step.is_empty()) {
            bytes = match (step, self.cipher) {
                (GZIP, _) => expanded(&bytes).ok_or(JsonFault::DAMAGED)?,
                (name, Some(cipher)) if name == cipher.name() => {
                    cipher.decrypt(&bytes, &self.associated(record)).map_err(|_| JsonFault::UNDECRYPTABLE)?
                }
                _ => return Err(JsonFault::UNKNOWN_ENCODING),
            };
        }
        String::from_utf8(bytes).map_err(|_| JsonFault::DAMAGED)
    }

    /// What a ciphertext is bound to, each part behind its length.
    fn associated(&self, record: &Record) -> Vec<u8> {
        let owner = record.owner.as_ref().map_or("", |owner| owner.as_str());
        let validation = record.validation.as_deref().unwrap_or("");
        let mut associated = Vec::new();
        for part in [self.location, record.id.as_str(), owner, validation] {
            associated.extend((part.len() as u64).to_be_bytes());
            associated.extend(part.as_bytes());
        }
        associated
    }
}

/// Records only that there is a result, and its size.
pub(super) fn leave_out(record: &mut Record, json: &str) {
    record.data = None;
    record.encoding = Some(format!("{OMITTED}:{}", json.len()));
}

fn base64_len(bytes: &[u8]) -> usize {
    bytes.len().div_ceil(3) * 4
}

fn compressed(json: &str) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(json.as_bytes()).ok()?;
    encoder.finish().ok()
}

fn expanded(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut json = Vec::new();
    let read = GzDecoder::new(bytes).take(MOST + 1).read_to_end(&mut json).ok()?;
    (read as u64 <= MOST).then_some(json)
}
