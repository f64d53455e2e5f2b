//! String contents: decoding the escapes, and writing the fewest.

use std::rc::Rc;

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
    Shared(Rc<str>),
}

impl<'a> Text<'a> {
    pub(crate) fn borrowed(text: &'a str) -> Self {
        Self { whole: Whole::Borrowed(text), start: 0, end: text.len() }
    }

    pub(crate) fn as_str(&self) -> &str {
        let whole = match &self.whole {
            Whole::Borrowed(text) => text,
            Whole::Shared(text) => &**text,
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
        Self { start: 0, end: text.len(), whole: Whole::Shared(text.into()) }
    }
}

/// The characters of a string's content, whose escapes have been checked.
pub(crate) fn decode(content: &str) -> impl Iterator<Item = char> + '_ {
    let mut chars = content.chars();
    std::iter::from_fn(move || {
        let first = chars.next()?;
        if first != '\\' {
            return Some(first);
        }
        Some(match chars.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let high = hex4(&mut chars);
                let code = if (0xD800..0xDC00).contains(&high) {
                    chars.nth(1); // the backslash and the u of the second half
                    let low = hex4(&mut chars);
                    0x10000 + ((high - 0xD800) << 10) + low.wrapping_sub(0xDC00)
                } else {
                    high
                };
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            same => same,
        })
    })
}

fn hex4(chars: &mut std::str::Chars<'_>) -> u32 {
    (0..4).fold(0, |value, _| value * 16 + chars.next().and_then(|c| c.to_digit(16)).unwrap_or(0))
}

/// Appends one character of a string with the fewest escapes that JSON allows.
pub(crate) fn escape_into(out: &mut Vec<u8>, character: char) {
    let short = match character {
        '"' => b'"',
        '\\' => b'\\',
        '\u{8}' => b'b',
        '\u{c}' => b'f',
        '\n' => b'n',
        '\r' => b'r',
        '\t' => b't',
        control if u32::from(control) < 0x20 => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            let code = u32::from(control) as usize;
            out.extend_from_slice(b"\\u00");
            out.push(HEX[code >> 4]);
            out.push(HEX[code & 15]);
            return;
        }
        other => {
            out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
            return;
        }
    };
    out.push(b'\\');
    out.push(short);
}

/// Appends a decoded text as a JSON string.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    if text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        out.extend_from_slice(text.as_bytes());
    } else {
        text.chars().for_each(|character| escape_into(out, character));
    }
    out.push(b'"');
}
