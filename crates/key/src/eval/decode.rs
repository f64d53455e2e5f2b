//! Data inside strings: JSON, base64, and gzip inside base64, each of them bounded.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::MultiGzDecoder;

use super::Value;
use super::functions::Call;
use crate::expression::functions::Function;
use crate::expression::select::{DecodeReason, SelectError};
use crate::json::node::Node;
use crate::json::text::Text;

/// How large a decompressed text may be: more than any event holds, less than hurts.
const MAX_INFLATED: u64 = 8 << 20;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

impl<'a> Call<'_, 'a> {
    pub(super) fn decode(&self, function: Function) -> Value<'a> {
        if matches!(self.argument(0), Node::Null) {
            return Ok(Node::Null);
        }
        let text = self.string(0)?;
        // Each decoding reads its whole text, which an expression can ask for again and again.
        self.evaluation.spend(text.as_str().len() / 8)?;
        match function {
            Function::PowertoolsJson => match Node::parse(text, self.guide()) {
                Ok(node) => Ok(node),
                Err(error) => self.undecodable(DecodeReason::Json(error)),
            },
            Function::PowertoolsBase64 => {
                let bytes = self.base64(text.as_str())?;
                self.utf8(bytes)
            }
            _ => {
                let bytes = self.base64(text.as_str())?;
                let inflated = self.inflate(&bytes)?;
                self.evaluation.spend(inflated.len() / 8)?;
                self.utf8(inflated)
            }
        }
    }

    fn base64(&self, text: &str) -> Result<Vec<u8>, SelectError> {
        if self.evaluation.is_shared && text.trim_ascii() != text {
            return self.other("takes base64 with white space around it, which is nothing in TypeScript");
        }
        STANDARD.decode(text.trim_ascii()).or_else(|_| self.undecodable(DecodeReason::Base64))
    }

    fn inflate(&self, bytes: &[u8]) -> Result<Vec<u8>, SelectError> {
        let mut inflated = Vec::new();
        let mut reader = MultiGzDecoder::new(bytes).take(MAX_INFLATED + 1);
        match reader.read_to_end(&mut inflated) {
            Err(_) => self.undecodable(DecodeReason::Gzip),
            Ok(_) if inflated.len() as u64 > MAX_INFLATED => {
                self.undecodable(DecodeReason::TooLarge { limit: MAX_INFLATED })
            }
            Ok(_) => Ok(inflated),
        }
    }

    /// Not the same in every language.
    fn other<T>(&self, reason: &'static str) -> Result<T, SelectError> {
        Err(SelectError::OtherInPowertools { part: self.text(), reason })
    }

    fn utf8(&self, bytes: Vec<u8>) -> Value<'a> {
        if self.evaluation.is_shared && bytes.starts_with(BYTE_ORDER_MARK) {
            return self.other("keeps a byte order mark, which TypeScript leaves out");
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Node::String(Text::from(text))),
            Err(_) => self.undecodable(DecodeReason::NotText),
        }
    }
}
