//! A JSON value that opens lazily: until something looks inside, it is a slice of the text.

use std::rc::Rc;

use super::error::{CanonicalError, CanonicalReason};
use super::index::{Guide, Known};
use super::open::{each_member, name_is, open, open_checked};
use super::scan::Scanner;
use super::text::Text;

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
    /// One whole JSON value that nobody has looked into; checked, and nothing but the value. Of one that is on the
    /// way to something that is wanted, it is known where that stands.
    Raw(Text<'a>, Option<Known<'a>>),
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
    /// Checks a whole text, strictly and in one pass, and remembers what is wanted of it. If that is nothing, it
    /// opens the outermost value.
    pub(crate) fn parse(text: Text<'a>, guide: Option<Guide<'a>>) -> Result<Node<'a>, CanonicalError> {
        let mut scanner = Scanner::new(text.as_str());
        let node = match guide {
            Some(guide) if guide.is_useful(text.as_str()) => guide.read(&text, &mut scanner)?,
            _ => open(&text, &mut scanner, 0, 1)?,
        };
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
            Node::Raw(text, _) => match self.known_elements() {
                Some(elements) => Ok(Node::Array(Rc::new(elements.collect()))),
                None => open_checked(text),
            },
            other => Ok(other.clone()),
        }
    }

    /// The same value with everything in it opened: no `Raw` at any depth.
    pub(crate) fn open_fully(&self) -> Result<Node<'a>, CanonicalError> {
        match self {
            Node::Raw(text, _) => open(text, &mut Scanner::new(text.as_str()), 0, usize::MAX),
            other => Ok(other.clone()),
        }
    }

    /// The elements of an array that has not been opened, if it is known where they stand.
    fn known_elements(&self) -> Option<impl Iterator<Item = Node<'a>>> {
        match self {
            Node::Raw(text, Some(known)) if self.type_name() == "array" => known.elements(text),
            _ => None,
        }
    }

    /// Visits the elements of an array; whether it is one.
    pub(crate) fn each_element<E: From<CanonicalError>>(
        &self,
        mut visit: impl FnMut(&Node<'a>) -> Result<(), E>,
    ) -> Result<bool, E> {
        if let Some(mut elements) = self.known_elements() {
            elements.try_for_each(|element| visit(&element))?;
            return Ok(true);
        }
        let Node::Array(elements) = self.open()? else {
            return Ok(false);
        };
        elements.iter().try_for_each(visit)?;
        Ok(true)
    }

    /// A value that an expression has reached: opened, so that it is read once for all that follows. Not where that
    /// was foreseen, and what follows is known or nothing.
    pub(crate) fn reached(self) -> Result<Node<'a>, CanonicalError> {
        if matches!(self, Node::Raw(_, Some(_))) { Ok(self) } else { self.open() }
    }

    /// A value at which several parts of an expression are going to look. As it is if it is known where those stand;
    /// else opened, so that it is read once for all of them.
    pub(crate) fn shared(&self) -> Result<Node<'a>, CanonicalError> {
        match self {
            Node::Raw(_, Some(known)) if known.has_parts() => Ok(self.clone()),
            _ => self.open(),
        }
    }

    /// The element of an array, from the end if negative; null for anything else.
    pub(crate) fn element(&self, position: i64) -> Result<Node<'a>, CanonicalError> {
        if let (Node::Raw(text, Some(known)), Ok(position)) = (self, usize::try_from(position))
            && self.type_name() == "array"
            && let Some(element) = known.element(text, position)
        {
            return Ok(element);
        }
        let Node::Array(elements) = self.open()? else {
            return Ok(Node::Null);
        };
        let position = match usize::try_from(position) {
            Ok(position) => Some(position),
            Err(_) => usize::try_from(position.unsigned_abs())
                .ok()
                .and_then(|back| elements.len().checked_sub(back)),
        };
        Ok(position.and_then(|position| elements.get(position)).cloned().unwrap_or(Node::Null))
    }

    /// The member of an object; null for anything else. Only this member is looked at.
    pub(crate) fn member(&self, name: &str) -> Result<Node<'a>, CanonicalError> {
        let mut found = None;
        match self {
            Node::Raw(text, known) if text.as_str().starts_with('{') => {
                if let Some(member) = known.as_ref().and_then(|known| known.member(text, name)) {
                    return member;
                }
                each_member(&mut Scanner::new(text.as_str()), |scanner, span| {
                    let (start, end) = scanner.skip_value(1)?;
                    if !name_is(text.as_str(), span, name) {
                        return Ok(());
                    }
                    let twice = found.replace(Node::Raw(text.part(start, end), None)).is_some();
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
            Node::Raw(text, _) => match text.as_str().as_bytes().first() {
                Some(b'{') => "object",
                Some(b'[') => "array",
                Some(b'"') => "string",
                Some(b't' | b'f') => "boolean",
                Some(b'n') => "null",
                _ => "number",
            },
        }
    }

    /// Whether the value is a text, an array or an object without anything in it.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Node::String(text) => text.as_str().is_empty(),
            Node::Array(elements) => elements.is_empty(),
            Node::Object(members) => members.is_empty(),
            Node::Raw(text, _) => {
                let mut inside = text.as_str().bytes().skip(1).skip_while(u8::is_ascii_whitespace);
                match self.type_name() {
                    "string" => text.as_str().len() == 2,
                    "array" | "object" => matches!(inside.next(), Some(b']' | b'}')),
                    _ => false,
                }
            }
            Node::Null | Node::Bool(_) | Node::Number(_) => false,
        }
    }

    /// Whether the value says nothing: null, an empty string, or an array or object all of whose
    /// parts say nothing. `0` and `false` say something.
    pub(crate) fn is_missing(&self) -> Result<bool, CanonicalError> {
        Ok(match self {
            Node::Raw(text, _) => !Scanner::new(text.as_str()).says_something()?,
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
