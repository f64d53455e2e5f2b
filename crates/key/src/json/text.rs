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
    let mut decoded = String::with_capacity(content.len());
    let mut rest = content;
    loop {
        let (plain, escape) = rest.split_at(find_special(rest.as_bytes(), 0));
        decoded.push_str(plain);
        let mut chars = escape.chars();
        if chars.next().is_none() {
            return decoded;
        }
        decoded.push(match chars.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => unicode(&mut chars),
            Some(same) => same,
            None => '\\',
        });
        rest = chars.as_str();
    }
}

/// After `\u`: the character, of which a second escape may be the other half.
fn unicode(chars: &mut std::str::Chars<'_>) -> char {
    let high = hex4(chars);
    let code = if (0xD800..0xDC00).contains(&high) {
        chars.nth(1); // the backslash and the u of the second half
        let low = hex4(chars);
        0x10000 + ((high - 0xD800) << 10) + (low.wrapping_sub(0xDC00) & 0x3FF)
    } else {
        high
    };
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn hex4(chars: &mut std::str::Chars<'_>) -> u32 {
    (0..4).fold(0, |value, _| value * 16 + chars.next().and_then(|c| c.to_digit(16)).unwrap_or(0))
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
