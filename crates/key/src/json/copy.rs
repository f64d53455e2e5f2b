//! A JSON text into its canonical form, in one pass.
//!
//! What is canonical already, which is most of a compact text, is not copied token by token but in
//! long runs: up to where the next change is needed.

use super::canonical::Output;
use super::error::{CanonicalError, CanonicalReason};
use super::members::Member;
use super::scan::{Digits, Escapes, MAX_DEPTH, Scanner, StringSpan};
use super::text::{decode, write_content};
use crate::number::Decimal;

/// The longest number that is looked at as it stands; a longer one may need an exponent.
const SHORT_NUMBER: usize = 40;

/// How reading a whole text ended.
pub(super) enum Document {
    /// At a member that was looked for.
    Stopped,
    /// At its end.
    Copied {
        /// Whether there is a number, `true`, `false` or a text that is not empty in it.
        says_something: bool,
    },
}

/// Reads one text and writes to an output.
pub(super) struct Copier<'t, 'o> {
    scanner: Scanner<'t>,
    /// Up to here the text has been written, or left out.
    written: usize,
    output: &'o mut Output,
    /// Names of members at which reading stops, if the outermost value has one.
    stop_at: &'static [&'static str],
    stopped: bool,
    /// Whether a value so far says something: a number, `true`, `false` or a text that is not empty.
    says_something: bool,
}

impl<'t, 'o> Copier<'t, 'o> {
    pub(super) fn new(text: &'t str, output: &'o mut Output) -> Self {
        let scanner = Scanner::new(text);
        Self { scanner, written: 0, output, stop_at: &[], stopped: false, says_something: false }
    }

    /// Stops at the first of these members, if the outermost value is an object that has one.
    pub(super) fn stopping_at(self, stop_at: &'static [&'static str]) -> Self {
        Self { stop_at, ..self }
    }

    /// The whole text.
    pub(super) fn document(mut self) -> Result<Document, CanonicalError> {
        self.value(0)?;
        if self.stopped {
            return Ok(Document::Stopped);
        }
        self.flush(self.scanner.pos);
        self.scanner.finish()?;
        Ok(Document::Copied { says_something: self.says_something })
    }

    /// One value, which is inside others.
    pub(super) fn value_at(mut self, depth: usize) -> Result<(), CanonicalError> {
        self.value(depth)?;
        self.flush(self.scanner.pos);
        Ok(())
    }

    /// Writes the run that ends here.
    #[inline]
    fn flush(&mut self, end: usize) {
        let run = self.scanner.slice(self.written, end);
        self.output.bytes.extend_from_slice(run.as_bytes());
        self.written = end;
    }

    /// Where the scanner's position will stand in the output.
    #[inline]
    fn here(&self) -> usize {
        self.output.bytes.len() + (self.scanner.pos - self.written)
    }

    /// The next byte that is not white space; white space is left out.
    #[inline]
    fn token(&mut self) -> Option<u8> {
        let next = self.scanner.peek();
        if !matches!(next, Some(b' ' | b'\n' | b'\r' | b'\t')) {
            return next;
        }
        self.flush(self.scanner.pos);
        let next = self.scanner.next_token();
        self.written = self.scanner.pos;
        next
    }

    #[inline]
    fn value(&mut self, depth: usize) -> Result<(), CanonicalError> {
        match self.token() {
            Some(b'"') => {
                let span = self.string()?;
                self.says_something |= span.start < span.end;
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                self.says_something = true;
            }
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            _ => self.says_something |= self.scanner.word()? != "null",
        }
        Ok(())
    }

    /// At a quote.
    #[inline]
    fn string(&mut self) -> Result<StringSpan, CanonicalError> {
        let span = self.scanner.string()?;
        if span.escapes == Escapes::Long {
            self.flush(span.start);
            let content = decode(self.scanner.slice(span.start, span.end));
            write_content(&mut self.output.bytes, &content);
            self.written = span.end;
        }
        Ok(span)
    }

    #[inline]
    fn number(&mut self) -> Result<(), CanonicalError> {
        let start = self.scanner.pos;
        let digits = self.scanner.number()?;
        let text = self.scanner.slice(start, self.scanner.pos);
        let fine = text.len() < SHORT_NUMBER
            && match digits {
                Digits::Integer => text != "-0",
                Digits::Fraction => !text.ends_with('0'),
                Digits::Exponent => false,
            };
        if !fine {
            self.flush(start);
            Decimal::parse(text).write_into(&mut self.output.bytes);
            self.written = self.scanner.pos;
        }
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Result<(), CanonicalError> {
        if depth >= MAX_DEPTH {
            return self.scanner.error(CanonicalReason::TooDeep);
        }
        self.scanner.pos += 1;
        if self.token() == Some(b']') {
            self.scanner.pos += 1;
            return Ok(());
        }
        loop {
            self.value(depth + 1)?;
            match self.token() {
                Some(b',') => self.scanner.pos += 1,
                Some(b']') => {
                    self.scanner.pos += 1;
                    return Ok(());
                }
                _ => return self.scanner.unexpected(),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<(), CanonicalError> {
        if depth >= MAX_DEPTH {
            return self.scanner.error(CanonicalReason::TooDeep);
        }
        self.scanner.pos += 1;
        if self.token() == Some(b'}') {
            self.scanner.pos += 1;
            return Ok(());
        }
        let object = self.output.members.begin();
        loop {
            let member = self.name(depth)?;
            if self.stopped {
                return Ok(());
            }
            if self.token() != Some(b':') {
                return self.scanner.unexpected();
            }
            self.scanner.pos += 1;
            self.value(depth + 1)?;
            let end = self.here();
            self.output.members.push(member, end);
            match self.token() {
                Some(b',') => self.scanner.pos += 1,
                Some(b'}') => break,
                _ => return self.scanner.unexpected(),
            }
        }
        if self.output.members.in_order(object) {
            self.output.members.close(object);
        } else {
            self.flush(self.scanner.pos);
            self.output.members.sort(object, &mut self.output.bytes)?;
        }
        self.scanner.pos += 1;
        Ok(())
    }

    /// A member's name, of an object at this depth.
    #[inline]
    fn name(&mut self, depth: usize) -> Result<Member, CanonicalError> {
        self.token();
        let start = self.here();
        let span = self.string()?;
        let (source, name_end) = (span.start - 1, self.here() - 1);
        let content = self.scanner.slice(span.start, span.end);
        let decoded: String;
        let name = if span.escapes != Escapes::None {
            decoded = decode(content);
            &decoded
        } else {
            content
        };
        self.stopped = depth == 0 && self.stop_at.contains(&name);
        Ok(self.output.members.named(name, start, name_end, source))
    }
}
