//! The canonical form: two JSON texts that mean the same become the same bytes.
//!
//! - Members are sorted by the UTF-8 bytes of their decoded names; a member twice is refused.
//! - Strings carry the fewest escapes: `\" \\ \b \f \n \r \t`, other control characters as
//!   lower-case `\u00xx`, everything else literally. No Unicode normalisation: composed and
//!   decomposed spellings of a character are different.
//! - Numbers are exact decimals, spelled as [`Decimal`](crate::number::Decimal) says.
//! - Array order is kept; there is no white space.

use super::error::{CanonicalError, CanonicalReason};
use super::node::Node;
use super::scan::{MAX_DEPTH, Scanner};
use super::text::{decode, escape_into, write_string};
use crate::number::Decimal;

/// How large a canonical form may become. An expression can repeat a value any number of times.
const MAX_BYTES: usize = 32 << 20;

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
    let mut writer = Writer::with_capacity(json.len());
    writer.text(json)?;
    Ok(writer.finish())
}

/// The canonical form of a value that an expression selected.
pub(crate) fn canonical_node(node: &Node<'_>) -> Result<String, CanonicalError> {
    let mut writer = Writer::with_capacity(64);
    writer.node(node, 0)?;
    Ok(writer.finish())
}

/// One member that was written to the output: `"name":value`.
#[derive(Clone, Copy)]
struct Member {
    start: usize,
    /// The end of the name's content; it begins after the quote at `start`.
    name_end: usize,
    end: usize,
    /// Where the name stands in the text that was read, for the error.
    source: usize,
}

/// Writes canonical JSON.
pub(crate) struct Writer {
    out: Vec<u8>,
    scratch: Vec<u8>,
    /// The members of all open objects; each object owns the tail from its own base on.
    members: Vec<Member>,
}

impl Writer {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { out: Vec::with_capacity(bytes), scratch: Vec::new(), members: Vec::new() }
    }

    pub(crate) fn finish(self) -> String {
        // Every byte came from a `str` or is ASCII, so this neither fails nor replaces anything.
        String::from_utf8(self.out)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// A whole JSON text.
    pub(crate) fn text(&mut self, json: &str) -> Result<(), CanonicalError> {
        let mut scanner = Scanner::new(json);
        self.value(&mut scanner, 0)?;
        scanner.finish()
    }

    fn value(&mut self, scanner: &mut Scanner<'_>, depth: usize) -> Result<(), CanonicalError> {
        match scanner.next_token() {
            Some(b'"') => self.string(scanner).map(drop),
            Some(b'-' | b'0'..=b'9') => {
                let start = scanner.pos;
                let integer = scanner.number()?;
                let text = scanner.slice(start, scanner.pos);
                self.number(text, integer);
                Ok(())
            }
            Some(b'{') => self.object(scanner, depth),
            Some(b'[') => self.array(scanner, depth),
            _ => {
                let word = scanner.word()?;
                self.out.extend_from_slice(word.as_bytes());
                Ok(())
            }
        }
    }

    #[inline]
    fn number(&mut self, text: &str, integer: bool) {
        if integer && text.len() < 40 && text != "-0" {
            self.out.extend_from_slice(text.as_bytes());
        } else {
            Decimal::parse(text).write_into(&mut self.out);
        }
    }

    /// A string of the text; where it stands there.
    #[inline]
    fn string(&mut self, scanner: &mut Scanner<'_>) -> Result<usize, CanonicalError> {
        let span = scanner.string()?;
        if span.escaped {
            self.out.push(b'"');
            let content = scanner.slice(span.start, span.end);
            decode(content).for_each(|character| escape_into(&mut self.out, character));
            self.out.push(b'"');
        } else {
            let quoted = scanner.slice(span.start - 1, span.end + 1);
            self.out.extend_from_slice(quoted.as_bytes());
        }
        Ok(span.start - 1)
    }

    fn array(&mut self, scanner: &mut Scanner<'_>, depth: usize) -> Result<(), CanonicalError> {
        if depth >= MAX_DEPTH {
            return scanner.error(CanonicalReason::TooDeep);
        }
        scanner.pos += 1;
        self.out.push(b'[');
        if scanner.next_token() == Some(b']') {
            scanner.pos += 1;
        } else {
            loop {
                self.value(scanner, depth + 1)?;
                match scanner.next_token() {
                    Some(b',') => {
                        scanner.pos += 1;
                        self.out.push(b',');
                    }
                    Some(b']') => {
                        scanner.pos += 1;
                        break;
                    }
                    _ => return scanner.unexpected(),
                }
            }
        }
        self.out.push(b']');
        Ok(())
    }

    fn object(&mut self, scanner: &mut Scanner<'_>, depth: usize) -> Result<(), CanonicalError> {
        if depth >= MAX_DEPTH {
            return scanner.error(CanonicalReason::TooDeep);
        }
        scanner.pos += 1;
        self.out.push(b'{');
        let base = self.members.len();
        if scanner.next_token() == Some(b'}') {
            scanner.pos += 1;
        } else {
            loop {
                let start = self.out.len();
                let source = self.string(scanner)?;
                let name_end = self.out.len() - 1;
                scanner.expect(b':')?;
                self.out.push(b':');
                self.value(scanner, depth + 1)?;
                self.members.push(Member { start, name_end, end: self.out.len(), source });
                match scanner.next_token() {
                    Some(b',') => {
                        scanner.pos += 1;
                        self.out.push(b',');
                    }
                    Some(b'}') => {
                        scanner.pos += 1;
                        break;
                    }
                    _ => return scanner.unexpected(),
                }
            }
        }
        self.sort_members(base)?;
        self.out.push(b'}');
        Ok(())
    }

    /// Brings the members from `base` on, which end the output, into order.
    fn sort_members(&mut self, base: usize) -> Result<(), CanonicalError> {
        let out = &self.out;
        let name = |member: &Member| &out[member.start + 1..member.name_end];
        let members = &mut self.members[base..];
        if !members.is_sorted_by(|a, b| compare_names(name(a), name(b)).is_lt()) {
            let begin = members[0].start;
            // Stable, so that of two equal names the later one is reported.
            members.sort_by(|a, b| compare_names(name(a), name(b)));
            let twice = members.windows(2).find(|pair| name(&pair[0]) == name(&pair[1]));
            if let Some(pair) = twice {
                return Err(CanonicalError::new(pair[1].source, CanonicalReason::DuplicateMember));
            }
            self.scratch.clear();
            for member in members.iter() {
                self.scratch.extend_from_slice(&out[member.start..member.end]);
                self.scratch.push(b',');
            }
            self.scratch.pop();
            self.out.truncate(begin);
            self.out.extend_from_slice(&self.scratch);
        }
        self.members.truncate(base);
        Ok(())
    }

    /// A value that an expression selected.
    pub(crate) fn node(&mut self, node: &Node<'_>, depth: usize) -> Result<(), CanonicalError> {
        if depth > MAX_DEPTH {
            return Err(CanonicalError::new(0, CanonicalReason::TooDeep));
        }
        if self.out.len() > MAX_BYTES {
            return Err(CanonicalError::new(0, CanonicalReason::TooLarge));
        }
        match node {
            Node::Null => self.out.extend_from_slice(b"null"),
            Node::Bool(true) => self.out.extend_from_slice(b"true"),
            Node::Bool(false) => self.out.extend_from_slice(b"false"),
            Node::Number(text) => Decimal::parse(text.as_str()).write_into(&mut self.out),
            Node::String(text) => write_string(&mut self.out, text.as_str()),
            Node::Raw(text) => {
                let mut scanner = Scanner::new(text.as_str());
                self.value(&mut scanner, depth)?;
            }
            Node::Array(elements) => {
                self.out.push(b'[');
                for (position, element) in elements.iter().enumerate() {
                    if position > 0 {
                        self.out.push(b',');
                    }
                    self.node(element, depth + 1)?;
                }
                self.out.push(b']');
            }
            Node::Object(members) => {
                self.out.push(b'{');
                let base = self.members.len();
                for (position, (name, value)) in members.iter().enumerate() {
                    if position > 0 {
                        self.out.push(b',');
                    }
                    let start = self.out.len();
                    write_string(&mut self.out, name.as_str());
                    let name_end = self.out.len() - 1;
                    self.out.push(b':');
                    self.node(value, depth + 1)?;
                    self.members.push(Member { start, name_end, end: self.out.len(), source: 0 });
                }
                self.sort_members(base)?;
                self.out.push(b'}');
            }
        }
        Ok(())
    }
}

/// Compares two names, written with the fewest escapes, by the bytes of what they mean.
#[inline]
fn compare_names(a: &[u8], b: &[u8]) -> std::cmp::Ordering {
    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (&a[common..], &b[common..]);
    let plain = |rest: &[u8]| rest.first() != Some(&b'\\');
    // An escape can only change the order where the first difference lies at one, or inside one.
    if plain(rest_a) && plain(rest_b) && !a[..common].contains(&b'\\') {
        return rest_a.cmp(rest_b);
    }
    let decoded = |name: &[u8]| -> String { decode(&String::from_utf8_lossy(name)).collect() };
    decoded(a).cmp(&decoded(b))
}
