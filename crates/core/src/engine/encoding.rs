//! The two attributes that hold a result: `data`, and `encoding` where `data` is not its JSON text.

use std::borrow::Cow;
use std::io::{Read, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::{JsonFault, Record, ResultMode};

/// `encoding` of a result that was left out: this and its size in bytes.
const OMITTED: &str = "omitted:";
/// `encoding` of a compressed result: base64 of gzip of its JSON text.
const GZIP: &str = "gzip";
/// The most that a stored result is expanded to. Lambda's own answers end at 6 MB.
const MOST: u64 = 64 * 1024 * 1024;

/// Puts `json` into the record as the mode says.
pub(super) fn put(record: &mut Record, json: &str, mode: ResultMode) {
    match mode {
        ResultMode::Full => record.data = Some(json.to_owned()),
        ResultMode::MarkerOnly => leave_out(record, json),
        ResultMode::Compressed => match compressed(json).filter(|smaller| smaller.len() < json.len()) {
            Some(smaller) => {
                record.data = Some(smaller);
                record.encoding = Some(GZIP.to_owned());
            }
            None => record.data = Some(json.to_owned()),
        },
    }
}

/// Records only that there is a result, and its size.
pub(super) fn leave_out(record: &mut Record, json: &str) {
    record.data = None;
    record.encoding = Some(format!("{OMITTED}{}", json.len()));
}

/// What became of a stored result.
pub(super) enum Stored<'a> {
    /// Its JSON text.
    Json(Cow<'a, str>),
    /// It was left out; its size in bytes.
    Omitted(u64),
}

/// The result that a final record holds.
pub(super) fn get(record: &Record) -> Result<Stored<'_>, JsonFault> {
    // `status` says that it is complete; no data is the result "nothing".
    let data = record.data.as_deref().unwrap_or("null");
    match record.encoding.as_deref() {
        None => Ok(Stored::Json(Cow::Borrowed(data))),
        Some(GZIP) => expanded(data).map(|json| Stored::Json(Cow::Owned(json))).ok_or(JsonFault::DAMAGED),
        Some(other) => match other.strip_prefix(OMITTED).and_then(|bytes| bytes.parse().ok()) {
            Some(bytes) => Ok(Stored::Omitted(bytes)),
            None => Err(JsonFault::NEWER_ENCODING),
        },
    }
}

fn compressed(json: &str) -> Option<String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(json.as_bytes()).ok()?;
    Some(STANDARD.encode(encoder.finish().ok()?))
}

fn expanded(data: &str) -> Option<String> {
    let compressed = STANDARD.decode(data).ok()?;
    let mut json = String::new();
    let read = GzDecoder::new(compressed.as_slice()).take(MOST + 1).read_to_string(&mut json).ok()?;
    (read as u64 <= MOST).then_some(json)
}
