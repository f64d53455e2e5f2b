//! Opening a value: its parts as slices of the text.

use std::rc::Rc;

use super::error::CanonicalError;
use super::node::{Member, Node};
use super::scan::{Escapes, Scanner, StringSpan};
use super::text::{Text, decode};

/// Opens the value at the scanner's position, which reads `text`, to a depth.
pub(super) fn open<'a>(
    text: &Text<'a>,
    scanner: &mut Scanner<'_>,
    level: usize,
    depth: usize,
) -> Result<Node<'a>, CanonicalError> {
    Ok(match scanner.next_token() {
        Some(b'{' | b'[') if level >= depth => {
            let (start, end) = scanner.skip_value(level)?;
            Node::Raw(text.part(start, end), None)
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
            let mut elements = Vec::new();
            each_element(scanner, |scanner, _| {
                elements.push(part(text, scanner, level + 1, depth)?);
                Ok(())
            })?;
            Node::Array(Rc::new(elements))
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

/// Opens one whole value that has been checked. Only what has parts is read again.
pub(super) fn open_checked<'a>(text: &Text<'a>) -> Result<Node<'a>, CanonicalError> {
    let content = text.as_str();
    Ok(match content.as_bytes().first() {
        Some(b'{' | b'[') => return open(text, &mut Scanner::new(content), 0, 1),
        Some(b'"') => {
            let (start, end) = (1, content.len() - 1);
            let plain = !content.as_bytes().contains(&b'\\');
            let part = text.part(start, end);
            Node::String(if plain { part } else { Text::from(decode(part.as_str())) })
        }
        Some(b't') => Node::Bool(true),
        Some(b'f') => Node::Bool(false),
        Some(b'n') => Node::Null,
        _ => Node::Number(text.clone()),
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
    Ok(Node::Raw(text.part(start, end), None))
}

/// Visits the members of the object at the scanner's position. The visitor gets the name, and reads
/// the value.
pub(super) fn each_member<'t>(
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

/// Visits the elements of the array at the scanner's position. The visitor gets the position, and reads the value.
pub(super) fn each_element<'t>(
    scanner: &mut Scanner<'t>,
    mut visit: impl FnMut(&mut Scanner<'t>, usize) -> Result<(), CanonicalError>,
) -> Result<(), CanonicalError> {
    scanner.expect(b'[')?;
    if scanner.next_token() == Some(b']') {
        scanner.pos += 1;
        return Ok(());
    }
    for position in 0.. {
        visit(scanner, position)?;
        if scanner.next_token() == Some(b',') {
            scanner.pos += 1;
        } else {
            break;
        }
    }
    scanner.expect(b']')
}

fn decoded<'a>(text: &Text<'a>, span: StringSpan) -> Text<'a> {
    if span.escapes != Escapes::None {
        Text::from(decode(&text.as_str()[span.start..span.end]))
    } else {
        text.part(span.start, span.end)
    }
}

/// Whether the name at `span` is this one.
pub(super) fn name_is(text: &str, span: StringSpan, name: &str) -> bool {
    let content = &text[span.start..span.end];
    if span.escapes != Escapes::None { decode(content) == name } else { content == name }
}
