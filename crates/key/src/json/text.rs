//! String contents: decoding the escapes, and writing the fewest.

use std::rc::Rc;

use super::scan::find_special;

/// A piece of the input, or of a text that the evaluation produced, that knows where it stands.
///
/// Cloning copies no characters.
#[derive(Clone)]
pub(crate) struct Text<'a> {
    whole: Whole<'a>,
    start: usize,
    end: usize,
}

#[derive(Clone)]
enum Whole<'a> {
    Borrowed(&'a str),
    // Not `Rc<str>`, which would copy the text once more.
    Shared(Rc<String>),
}

impl<'a> Text<'a> {
    pub(crate) fn borrowed(text: &'a str) -> Self {
        Self { whole: Whole::Borrowed(text), start: 0, end: text.len() }
    }

    pub(crate) fn as_str(&self) -> &str {
        let whole = match &self.whole {
            Whole::Borrowed(text) => text,
            Whole::Shared(text) => text.as_str(),
        };
        &whole[self.start..self.end]
    }

    /// A part of this text; the range must lie on character boundaries.
    pub(crate) fn part(&self, from: usize, to: usize) -> Self {
        Self { whole: self.whole.clone(), start: self.start + from, end: self.start + to }
    }

    /// Where this piece begins in the whole.
    pub(crate) fn offset(&self) -> usize {
        self.start
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self { start: 0, end: text.len(), whole: Whole::Shared(Rc::new(text)) }
    }
}

/// What a string's content means, whose escapes have been checked.
pub(crate) fn decode(content: &str) -> String {
    let bytes = content.as_bytes();
    let mut decoded = String::with_capacity(content.len());
    let mut from = 0;
    let mut at = find_special(bytes, 0);
    while let Some(escape) = content.get(at + 1..) {
        decoded.push_str(&content[from..at]);
        from = at + 2;
        match escape.as_bytes().first() {
            Some(b'b') => decoded.push('\u{8}'),
            Some(b'f') => decoded.push('\u{c}'),
            Some(b'n') => decoded.push('\n'),
            Some(b'r') => decoded.push('\r'),
            Some(b't') => decoded.push('\t'),
            Some(b'u') => {
                let (character, length) = unicode(&escape[1..]);
                decoded.push(character);
                from += length;
            }
            // It stands for itself, so that what follows is copied with it.
            _ => {
                from = at + 1;
                at = find_special(bytes, at + 2);
                continue;
            }
        }
        at = find_special(bytes, from);
    }
    decoded.push_str(&content[from.min(content.len())..]);
    decoded
}

/// After `\u`: the character, of which a second escape may be the other half, and how many bytes it took.
fn unicode(digits: &str) -> (char, usize) {
    let high = hex4(digits, 0);
    let (code, length) = if (0xD800..0xDC00).contains(&high) {
        // Between them are the backslash and the u of the second half.
        let low = hex4(digits, 6);
        (0x10000 + ((high - 0xD800) << 10) + (low.wrapping_sub(0xDC00) & 0x3FF), 10)
    } else {
        (high, 4)
    };
    (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), length)
}

fn hex4(text: &str, at: usize) -> u32 {
    let digits = text.as_bytes().iter().skip(at).take(4);
    digits.fold(0, |value, digit| value * 16 + char::from(*digit).to_digit(16).unwrap_or(0))
}

/// Appends a decoded text as a JSON string.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    write_content(out, text);
    out.push(b'"');
}

/// Appends a decoded text as the content of a JSON string, with the fewest escapes.
pub(crate) fn write_content(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let at = find_special(bytes, from);
        out.extend_from_slice(&bytes[from..at]);
        let Some(special) = bytes.get(at) else { return };
        write_escape(out, *special);
        from = at + 1;
    }
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
