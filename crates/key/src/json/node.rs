//! A JSON value that opens lazily: until something looks inside, it is a slice of the text.

use std::rc::Rc;

use super::error::{CanonicalError, CanonicalReason};
use super::scan::{Escapes, Scanner, StringSpan};
use super::text::{Text, decode};

/// A value of the input, or one that the expression made. Cloning copies no content.
#[derive(Clone)]
pub(crate) enum Node<'a> {
    Null,
    Bool(bool),
    /// The number as it was written.
    Number(Text<'a>),
    /// The decoded string.
    String(Text<'a>),
    Array(Rc<Vec<Node<'a>>>),
    /// Members in the order of the text; their names may repeat.
    Object(Rc<Vec<Member<'a>>>),
    /// One whole JSON value that nobody has looked into; checked.
    Raw(Text<'a>),
}

/// A member of an object that is open.
#[derive(Clone)]
pub(crate) struct Member<'a> {
    pub(crate) name: Text<'a>,
    /// Where the name's quote stands in the text that was read, in bytes. What the expression made stands nowhere, and
    /// has no name twice.
    pub(crate) at: usize,
    pub(crate) value: Node<'a>,
}

impl<'a> Member<'a> {
    /// One that the expression made.
    pub(crate) fn made(name: &'a str, value: Node<'a>) -> Self {
        Self { name: Text::borrowed(name), at: 0, value }
    }
}

impl<'a> Node<'a> {
    /// Checks a whole text, strictly and in one pass, and opens its outermost value.
    pub(crate) fn parse(text: Text<'a>) -> Result<Node<'a>, CanonicalError> {
        let mut scanner = Scanner::new(text.as_str());
        let node = open(&text, &mut scanner, 0, 1)?;
        scanner.finish()?;
        Ok(node)
    }

    /// Checks a whole text, and opens it to this depth: as many levels of arrays and objects.
    pub(crate) fn parse_to(depth: usize, text: Text<'a>) -> Result<Node<'a>, CanonicalError> {
        let mut scanner = Scanner::new(text.as_str());
        let node = open(&text, &mut scanner, 0, depth)?;
        scanner.finish()?;
        Ok(node)
    }

    /// The same value, one level opened: never `Raw`.
    pub(crate) fn open(&self) -> Result<Node<'a>, CanonicalError> {
        match self {
            Node::Raw(text) => open(text, &mut Scanner::new(text.as_str()), 0, 1),
            other => Ok(other.clone()),
        }
    }

    /// The same value with everything in it opened: no `Raw` at any depth.
    pub(crate) fn open_fully(&self) -> Result<Node<'a>, CanonicalError> {
        match self {
            Node::Raw(text) => open(text, &mut Scanner::new(text.as_str()), 0, usize::MAX),
            other => Ok(other.clone()),
        }
    }

    /// The member of an object; null for anything else. Only this member is looked at.
    pub(crate) fn member(&self, name: &str) -> Result<Node<'a>, CanonicalError> {
        let mut found = None;
        match self {
            Node::Raw(text) if text.as_str().starts_with('{') => {
                each_member(&mut Scanner::new(text.as_str()), |scanner, span| {
                    let (start, end) = scanner.skip_value(1)?;
                    if !name_is(text.as_str(), span, name) {
                        return Ok(());
                    }
                    let twice = found.replace(Node::Raw(text.part(start, end))).is_some();
                    if twice { Err(duplicate(text.offset() + span.start - 1)) } else { Ok(()) }
                })?;
            }
            Node::Object(members) => {
                for member in members.iter().filter(|member| member.name.as_str() == name) {
                    if found.replace(member.value.clone()).is_some() {
                        return Err(duplicate(member.at));
                    }
                }
            }
            _ => {}
        }
        Ok(found.unwrap_or(Node::Null))
    }

    /// The name of the value's type, as the function `type` gives it.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Node::Null => "null",
            Node::Bool(_) => "boolean",
            Node::Number(_) => "number",
            Node::String(_) => "string",
            Node::Array(_) => "array",
            Node::Object(_) => "object",
            Node::Raw(text) => match text.as_str().as_bytes().first() {
                Some(b'{') => "object",
                Some(b'[') => "array",
                Some(b'"') => "string",
                Some(b't' | b'f') => "boolean",
                Some(b'n') => "null",
                _ => "number",
            },
        }
    }

    /// Whether the value says nothing: null, an empty string, or an array or object all of whose
    /// parts say nothing. `0` and `false` say something.
    pub(crate) fn is_missing(&self) -> Result<bool, CanonicalError> {
        Ok(match self {
            Node::Raw(text) => {
                let mut scanner = Scanner::new(text.as_str());
                scanner.skip_value(0)?;
                !scanner.says_something
            }
            Node::Null => true,
            Node::String(text) => text.as_str().is_empty(),
            Node::Array(elements) => all_missing(elements.iter())?,
            Node::Object(members) => all_missing(members.iter().map(|member| &member.value))?,
            Node::Bool(_) | Node::Number(_) => false,
        })
    }
}

fn all_missing<'n, 'a: 'n>(mut parts: impl Iterator<Item = &'n Node<'a>>) -> Result<bool, CanonicalError> {
    parts.try_fold(true, |so_far, part| Ok(so_far && part.is_missing()?))
}

pub(crate) fn duplicate(offset: usize) -> CanonicalError {
    CanonicalError::new(offset, CanonicalReason::DuplicateMember)
}

/// Opens the value at the scanner's position, which reads `text`, to a depth.
fn open<'a>(
    text: &Text<'a>,
    scanner: &mut Scanner<'_>,
    level: usize,
    depth: usize,
) -> Result<Node<'a>, CanonicalError> {
    Ok(match scanner.next_token() {
        Some(b'{' | b'[') if level >= depth => {
            let (start, end) = scanner.skip_value(level)?;
            Node::Raw(text.part(start, end))
        }
        Some(b'{') => {
            let mut members = Vec::new();
            each_member(scanner, |scanner, name| {
                let at = text.offset() + name.start - 1;
                let value = part(text, scanner, level + 1, depth)?;
                members.push(Member { name: decoded(text, name), at, value });
                Ok(())
            })?;
            Node::Object(Rc::new(members))
        }
        Some(b'[') => {
            scanner.pos += 1;
            let mut elements = Vec::new();
            if scanner.next_token() == Some(b']') {
                scanner.pos += 1;
                return Ok(Node::Array(Rc::new(elements)));
            }
            loop {
                elements.push(part(text, scanner, level + 1, depth)?);
                if scanner.next_token() == Some(b',') {
                    scanner.pos += 1;
                } else {
                    scanner.expect(b']')?;
                    break Node::Array(Rc::new(elements));
                }
            }
        }
        Some(b'"') => Node::String(decoded(text, scanner.string()?)),
        Some(b'-' | b'0'..=b'9') => {
            let start = scanner.pos;
            scanner.number()?;
            Node::Number(text.part(start, scanner.pos))
        }
        _ => match scanner.word()? {
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            _ => Node::Null,
        },
    })
}

/// A value inside another: opened if it has parts that are wanted, else left as it is.
fn part<'a>(
    text: &Text<'a>,
    scanner: &mut Scanner<'_>,
    level: usize,
    depth: usize,
) -> Result<Node<'a>, CanonicalError> {
    if level < depth && matches!(scanner.next_token(), Some(b'{' | b'[')) {
        return open(text, scanner, level, depth);
    }
    let (start, end) = scanner.skip_value(level)?;
    Ok(Node::Raw(text.part(start, end)))
}

/// Visits the members of the object at the scanner's position. The visitor gets the name, and reads
/// the value.
fn each_member<'t>(
    scanner: &mut Scanner<'t>,
    mut visit: impl FnMut(&mut Scanner<'t>, StringSpan) -> Result<(), CanonicalError>,
) -> Result<(), CanonicalError> {
    scanner.expect(b'{')?;
    if scanner.next_token() == Some(b'}') {
        scanner.pos += 1;
        return Ok(());
    }
    loop {
        let name = scanner.name()?;
        visit(scanner, name)?;
        if scanner.next_token() == Some(b',') {
            scanner.pos += 1;
        } else {
            return scanner.expect(b'}');
        }
    }
}

fn decoded<'a>(text: &Text<'a>, span: StringSpan) -> Text<'a> {
    if span.escapes != Escapes::None {
        Text::from(decode(&text.as_str()[span.start..span.end]))
    } else {
        text.part(span.start, span.end)
    }
}

/// Whether the name at `span` is this one.
fn name_is(text: &str, span: StringSpan, name: &str) -> bool {
    let content = &text[span.start..span.end];
    if span.escapes != Escapes::None { decode(content) == name } else { content == name }
}
