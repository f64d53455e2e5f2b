//! The canonical form: two JSON texts that mean the same become the same bytes.
//!
//! - Members are sorted by the UTF-8 bytes of their decoded names; a member twice is refused.
//! - Strings carry the fewest escapes: `\" \\ \b \f \n \r \t`, other control characters as
//!   lower-case `\u00xx`, everything else literally. No Unicode normalisation: composed and
//!   decomposed spellings of a character are different.
//! - Numbers are exact decimals, spelled as [`Decimal`](crate::number::Decimal) says.
//! - Array order is kept; there is no white space.

use super::copy::{Copier, Document};
use super::error::{CanonicalError, CanonicalReason};
use super::members::Members;
use super::node::{Member, Node};
use super::scan::MAX_DEPTH;
use super::text::write_string;
use crate::number::Decimal;

/// How large a canonical form may become. An expression can repeat a value any number of times.
pub(crate) const MAX_BYTES: usize = 32 << 20;

/// The canonical form of a JSON text.
///
/// Objects are sorted by name and repeated members refused, numbers are exact decimals
/// (`1`, `1.0` and `1e0` are one number), strings carry the fewest escapes, array order counts.
///
/// # Errors
///
/// [`CanonicalError`] if the text is not strict JSON (RFC 8259), has a member twice in one
/// object, or is nested deeper than 128 levels.
///
/// ```
/// use lambda_idempotency_key::canonical;
/// assert_eq!(canonical(r#" {"b": 1.50, "a": "\u0041"} "#)?, r#"{"a":"A","b":1.5}"#);
/// # Ok::<(), lambda_idempotency_key::CanonicalError>(())
/// ```
pub fn canonical(json: &str) -> Result<String, CanonicalError> {
    Ok(whole(json, &[])?.map(|(text, _)| text).unwrap_or_default())
}

/// The canonical form of a JSON text, or `None` as soon as its outermost object turns out to have
/// one of these members.
pub(crate) fn canonical_unless(
    json: &str,
    members: &'static [&'static str],
) -> Result<Option<String>, CanonicalError> {
    Ok(whole(json, members)?.map(|(text, _)| text))
}

/// The canonical form of a JSON text, and whether it says something.
pub(crate) fn canonical_content(json: &str) -> Result<(String, bool), CanonicalError> {
    Ok(whole(json, &[])?.unwrap_or_default())
}

fn whole(json: &str, stop_at: &'static [&'static str]) -> Result<Option<(String, bool)>, CanonicalError> {
    let mut output = Output { bytes: Vec::with_capacity(json.len()), members: Members::default() };
    match Copier::new(json, &mut output).stopping_at(stop_at).document()? {
        Document::Stopped => Ok(None),
        Document::Copied { says_something } => Ok(Some((output.finish(), says_something))),
    }
}

/// The canonical form of a value that an expression selected.
pub(crate) fn canonical_node(node: &Node<'_>) -> Result<String, CanonicalError> {
    let mut output = Output { bytes: Vec::with_capacity(64), members: Members::default() };
    output.node(node, 0)?;
    // Within one value of the input the size is not looked at.
    if output.bytes.len() > MAX_BYTES {
        return Err(CanonicalError::new(0, CanonicalReason::TooLarge));
    }
    Ok(output.finish())
}

/// Canonical JSON under way.
pub(crate) struct Output {
    pub(super) bytes: Vec<u8>,
    pub(super) members: Members,
}

impl Output {
    fn finish(self) -> String {
        // Every byte came from a `str` or is ASCII, so this neither fails nor replaces anything.
        String::from_utf8(self.bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    fn node(&mut self, node: &Node<'_>, depth: usize) -> Result<(), CanonicalError> {
        if depth > MAX_DEPTH {
            return Err(CanonicalError::new(0, CanonicalReason::TooDeep));
        }
        if self.bytes.len() > MAX_BYTES {
            return Err(CanonicalError::new(0, CanonicalReason::TooLarge));
        }
        match node {
            Node::Null => self.bytes.extend_from_slice(b"null"),
            Node::Bool(true) => self.bytes.extend_from_slice(b"true"),
            Node::Bool(false) => self.bytes.extend_from_slice(b"false"),
            Node::Number(text) => Decimal::parse(text.as_str()).write_into(&mut self.bytes),
            Node::String(text) => write_string(&mut self.bytes, text.as_str()),
            Node::Raw(text, _) => Copier::new(text.as_str(), self)
                .value_at(depth)
                .map_err(|error| error.moved(text.offset()))?,
            Node::Array(elements) => {
                self.bytes.push(b'[');
                for (position, element) in elements.iter().enumerate() {
                    if position > 0 {
                        self.bytes.push(b',');
                    }
                    self.node(element, depth + 1)?;
                }
                self.bytes.push(b']');
            }
            Node::Object(members) => {
                self.bytes.push(b'{');
                let object = self.members.begin();
                for (position, Member { name, at, value }) in members.iter().enumerate() {
                    if position > 0 {
                        self.bytes.push(b',');
                    }
                    let start = self.bytes.len();
                    write_string(&mut self.bytes, name.as_str());
                    let member = self.members.named(name.as_str(), start, self.bytes.len() - 1, *at);
                    self.bytes.push(b':');
                    self.node(value, depth + 1)?;
                    self.members.push(member, self.bytes.len());
                }
                self.members.sort(object, &mut self.bytes)?;
                self.bytes.push(b'}');
            }
        }
        Ok(())
    }
}
