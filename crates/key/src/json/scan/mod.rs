//! The strict tokenizer: RFC 8259 and nothing else.
//!
//! It never builds values; it finds where they begin and end. Callers keep the slices.

mod strings;

pub(crate) use strings::{Escapes, StringSpan, find_special};

use super::error::{CanonicalError, CanonicalReason};

/// How deep arrays and objects may nest.
pub(crate) const MAX_DEPTH: usize = 128;

/// The parts that a number has.
#[derive(Clone, Copy)]
pub(crate) enum Digits {
    Integer,
    /// A point, and no exponent.
    Fraction,
    Exponent,
}

/// A position in a JSON text.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    pub(crate) pos: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, pos: 0 }
    }

    pub(crate) fn slice(&self, start: usize, end: usize) -> &'a str {
        &self.text[start..end]
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    pub(crate) fn error<T>(&self, reason: CanonicalReason) -> Result<T, CanonicalError> {
        Err(CanonicalError::new(self.pos, reason))
    }

    /// For a byte that should have been something else, or is not there.
    #[cold]
    pub(crate) fn unexpected<T>(&self) -> Result<T, CanonicalError> {
        self.error(if self.pos >= self.text.len() {
            CanonicalReason::Truncated
        } else {
            CanonicalReason::UnexpectedCharacter
        })
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes().get(self.pos).copied()
    }

    /// The next byte that is not white space, not consumed.
    #[inline]
    pub(crate) fn next_token(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.pos += 1,
                other => return other,
            }
        }
    }

    /// White space, then exactly this byte.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), CanonicalError> {
        if self.next_token() == Some(byte) {
            self.pos += 1;
            Ok(())
        } else {
            self.unexpected()
        }
    }

    /// Nothing but white space is left.
    pub(crate) fn finish(&mut self) -> Result<(), CanonicalError> {
        match self.next_token() {
            None => Ok(()),
            Some(_) => self.error(CanonicalReason::TrailingText),
        }
    }

    /// At a minus sign or a digit: a number.
    #[inline]
    pub(crate) fn number(&mut self) -> Result<Digits, CanonicalError> {
        let start = self.pos;
        let invalid = || CanonicalError::new(start, CanonicalReason::InvalidNumber);
        if self.peek() == Some(b'-') {
            self.pos += 1;
        }
        let first = self.peek();
        let digits = self.digits();
        if digits == 0 || (first == Some(b'0') && digits > 1) {
            return Err(invalid());
        }
        let mut parts = Digits::Integer;
        if self.peek() == Some(b'.') {
            parts = Digits::Fraction;
            self.pos += 1;
            if self.digits() == 0 {
                return Err(invalid());
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            parts = Digits::Exponent;
            self.pos += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.pos += 1;
            }
            if self.digits() == 0 {
                return Err(invalid());
            }
        }
        Ok(parts)
    }

    #[inline]
    fn digits(&mut self) -> usize {
        let start = self.pos;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.pos += 1;
        }
        self.pos - start
    }

    /// `true`, `false` or `null`.
    pub(crate) fn word(&mut self) -> Result<&'static str, CanonicalError> {
        for word in ["true", "false", "null"] {
            if self.text[self.pos..].starts_with(word) {
                self.pos += word.len();
                return Ok(word);
            }
        }
        self.unexpected()
    }

    /// White space, then one whole value, checked strictly; where it begins and ends.
    ///
    /// Not recursive: which containers are open is a bit each, and there are at most 128.
    pub(crate) fn skip_value(&mut self, depth: usize) -> Result<(usize, usize), CanonicalError> {
        let mut objects: u128 = 0;
        let mut open = 0;
        let Some(_) = self.next_token() else {
            return self.unexpected();
        };
        let start = self.pos;
        loop {
            match self.next_token() {
                Some(byte @ (b'{' | b'[')) => {
                    if depth + open >= MAX_DEPTH {
                        return self.error(CanonicalReason::TooDeep);
                    }
                    let object = byte == b'{';
                    objects = objects << 1 | u128::from(object);
                    open += 1;
                    self.pos += 1;
                    if self.next_token() != Some(if object { b'}' } else { b']' }) {
                        if object {
                            self.name()?;
                        }
                        continue;
                    }
                }
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'-' | b'0'..=b'9') => {
                    self.number()?;
                }
                _ => {
                    self.word()?;
                }
            }
            loop {
                if open == 0 {
                    return Ok((start, self.pos));
                }
                let object = objects & 1 == 1;
                match self.next_token() {
                    Some(b',') => {
                        self.pos += 1;
                        if object {
                            self.name()?;
                        }
                        break;
                    }
                    Some(b'}') if object => self.pos += 1,
                    Some(b']') if !object => self.pos += 1,
                    _ => return self.unexpected(),
                }
                objects >>= 1;
                open -= 1;
            }
        }
    }

    /// Whether there is a number, `true`, `false` or a text that is not empty in the text, which has been checked.
    /// It reads no further than that.
    pub(crate) fn says_something(&mut self) -> Result<bool, CanonicalError> {
        loop {
            match self.next_token() {
                None => return Ok(false),
                Some(b'{' | b'}' | b'[' | b']' | b',') => self.pos += 1,
                Some(b'"') => {
                    let span = self.string()?;
                    if self.next_token() == Some(b':') {
                        self.pos += 1; // it was a name
                    } else if span.start < span.end {
                        return Ok(true);
                    }
                }
                Some(b'n') => {
                    self.word()?;
                }
                Some(_) => return Ok(true),
            }
        }
    }

    /// A member's name and the colon.
    #[inline]
    pub(crate) fn name(&mut self) -> Result<StringSpan, CanonicalError> {
        let name = self.string()?;
        self.expect(b':')?;
        Ok(name)
    }
}
