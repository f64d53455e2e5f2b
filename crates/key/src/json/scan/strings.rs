//! Strings: where they end, and whether every escape in them is a character.

use super::{CanonicalError, CanonicalReason, Scanner};

/// Where a string's content lies (without the quotes), and which escapes it contains.
#[derive(Clone, Copy)]
pub(crate) struct StringSpan {
    pub(crate) start: usize,
    pub(crate) end: usize,
    // One field and not two flags: reading two at once stalls on their separate stores.
    pub(crate) escapes: Escapes,
}

/// The escapes in a string.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escapes {
    None,
    /// Only those that are needed, in two characters each.
    Short,
    /// Others too, which are longer than they have to be, or may be.
    Long,
}

impl Scanner<'_> {
    /// White space, then a string.
    #[inline(always)]
    pub(crate) fn string(&mut self) -> Result<StringSpan, CanonicalError> {
        self.expect(b'"')?;
        let start = self.pos;
        self.pos = find_special(self.bytes(), start);
        let mut escapes = Escapes::None;
        if self.peek() != Some(b'"') {
            escapes = self.rest_of_string()?;
        }
        let end = self.pos;
        self.pos += 1;
        Ok(StringSpan { start, end, escapes })
    }

    /// From the first character that is special, up to the closing quote.
    fn rest_of_string(&mut self) -> Result<Escapes, CanonicalError> {
        let mut escapes = Escapes::Short;
        loop {
            match self.peek() {
                Some(b'"') => return Ok(escapes),
                Some(b'\\') => {
                    if matches!(self.bytes().get(self.pos + 1), Some(b'/' | b'u')) {
                        escapes = Escapes::Long;
                    }
                    self.escape()?;
                }
                Some(_) => return self.error(CanonicalReason::ControlCharacter),
                None => return self.error(CanonicalReason::Truncated),
            }
            self.pos = find_special(self.bytes(), self.pos);
        }
    }

    /// At a backslash: one escape (both halves of a surrogate pair).
    fn escape(&mut self) -> Result<(), CanonicalError> {
        match self.bytes().get(self.pos + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.pos += 2;
                Ok(())
            }
            Some(b'u') => match self.hex4(self.pos + 2)? {
                0xD800..=0xDBFF => {
                    let next = self.pos + 6;
                    if self.bytes().get(next..next + 2) == Some(b"\\u")
                        && (0xDC00..=0xDFFF).contains(&self.hex4(next + 2)?)
                    {
                        self.pos += 12;
                        Ok(())
                    } else {
                        self.error(CanonicalReason::LoneSurrogate)
                    }
                }
                0xDC00..=0xDFFF => self.error(CanonicalReason::LoneSurrogate),
                _ => {
                    self.pos += 6;
                    Ok(())
                }
            },
            Some(_) => self.error(CanonicalReason::InvalidEscape),
            None => self.error(CanonicalReason::Truncated),
        }
    }

    fn hex4(&self, at: usize) -> Result<u32, CanonicalError> {
        let Some(digits) = self.bytes().get(at..at + 4) else {
            return Err(CanonicalError::new(self.text.len(), CanonicalReason::Truncated));
        };
        digits.iter().try_fold(0, |value, digit| {
            let digit = char::from(*digit).to_digit(16);
            digit
                .map(|digit| value * 16 + digit)
                .ok_or_else(|| CanonicalError::new(at - 2, CanonicalReason::InvalidEscape))
        })
    }
}

/// The first quote, backslash or control character at or after `from`, eight bytes at a time.
#[inline]
pub(crate) fn find_special(bytes: &[u8], from: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut pos = from;
    while let Some(chunk) = bytes.get(pos..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let quote = word ^ (ONES * u64::from(b'"'));
        let backslash = word ^ (ONES * u64::from(b'\\'));
        let hit = (quote.wrapping_sub(ONES) & !quote)
            | (backslash.wrapping_sub(ONES) & !backslash)
            | (word.wrapping_sub(ONES * 0x20) & !word);
        // A borrow can only make a byte *after* the first hit look like one.
        if hit & HIGH != 0 {
            return pos + ((hit & HIGH).trailing_zeros() / 8) as usize;
        }
        pos += 8;
    }
    while let Some(byte) = bytes.get(pos) {
        if matches!(byte, b'"' | b'\\' | 0..=0x1f) {
            break;
        }
        pos += 1;
    }
    pos
}
