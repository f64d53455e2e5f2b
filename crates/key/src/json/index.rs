//! Where in a text the values stand that are wanted: found in the one pass that checks it.

use std::rc::Rc;

use super::error::CanonicalError;
use super::node::{Node, duplicate};
use super::open::{each_element, each_member};
use super::scan::{Escapes, MAX_DEPTH, Scanner, StringSpan};
use super::text::{Text, decode};
use super::wanted::{At, Place, Wanted};

/// What is wanted of one text.
#[derive(Clone, Copy)]
pub(crate) struct Guide<'a> {
    pub(crate) wanted: &'a Wanted,
    /// The place of the whole text.
    pub(crate) at: At,
}

impl<'a> Guide<'a> {
    /// Whether something inside of the text is wanted, and an index can hold it.
    pub(super) fn is_useful(&self, text: &str) -> bool {
        !self.wanted.place(self.at).is_leaf() && u32::try_from(text.len()).is_ok()
    }

    /// Checks the value at the scanner's position, which reads `text`, and remembers what is wanted of it.
    pub(super) fn read(self, text: &Text<'a>, scanner: &mut Scanner<'_>) -> Result<Node<'a>, CanonicalError> {
        let mut index = Index { wanted: self.wanted, entries: Vec::new() };
        index.value(scanner, self.at, 0)?;
        let whole = &index.entries[0];
        let text = text.part(whole.start as usize, whole.end as usize);
        Ok(Node::Raw(text, Some(Known { index: Rc::new(index), entry: 0 })))
    }
}

/// The wanted values of one text, in the order of the text; what is inside of one follows it.
struct Index<'a> {
    wanted: &'a Wanted,
    entries: Vec<Entry>,
}

/// A value that is wanted, in bytes of the text. There may be one for each element of a large array, so it is small.
struct Entry {
    start: u32,
    end: u32,
    /// The first entry that is not inside of it.
    next: u32,
    /// The quote of its name's second place, if the member is there twice; else 0, where no name stands.
    again: u32,
    at: At,
}

/// A position in a text, or in its index, which has fewer entries than the text has bytes; the text is not too long.
fn narrow(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

impl Index<'_> {
    /// The value at the scanner's position, which is wanted, and lies so many levels deep.
    fn value(&mut self, scanner: &mut Scanner<'_>, at: At, level: usize) -> Result<(), CanonicalError> {
        let first = scanner.next_token();
        let (entry, start) = (self.entries.len(), narrow(scanner.pos));
        self.entries.push(Entry { start, end: start, next: narrow(entry + 1), again: 0, at });
        let wanted = self.wanted;
        let place = wanted.place(at);
        match first {
            // Where it is too deep, skipping says so.
            Some(b'{') if level < MAX_DEPTH && place.has_members() => {
                each_member(scanner, |scanner, name| self.member(scanner, (entry, place), name, level + 1))?;
            }
            Some(b'[') if level < MAX_DEPTH && place.has_elements() => {
                each_element(scanner, |scanner, position| match place.element(position) {
                    Some(at) => self.value(scanner, at, level + 1),
                    None => scanner.skip_value(level + 1).map(|_| ()),
                })?;
            }
            _ => {
                scanner.skip_value(level)?;
            }
        }
        let next = narrow(self.entries.len());
        let entry = &mut self.entries[entry];
        (entry.end, entry.next) = (narrow(scanner.pos), next);
        Ok(())
    }

    /// A member of the object at an entry, and at a place.
    fn member(
        &mut self,
        scanner: &mut Scanner<'_>,
        (object, place): (usize, &Place),
        name: StringSpan,
        level: usize,
    ) -> Result<(), CanonicalError> {
        let content = scanner.slice(name.start, name.end);
        let at = match name.escapes {
            Escapes::None => place.member(content),
            _ => place.member(&decode(content)),
        };
        if let Some(at) = at {
            let known = self.children(object, self.entries.len()).find(|child| self.entries[*child].at == at);
            let Some(known) = known else {
                return self.value(scanner, at, level);
            };
            let again = &mut self.entries[known].again;
            if *again == 0 {
                *again = narrow(name.start - 1);
            }
        }
        scanner.skip_value(level)?;
        Ok(())
    }

    /// The entries right inside of one that ends before `next`.
    fn children(&self, entry: usize, next: usize) -> impl Iterator<Item = usize> {
        let inside = move |child: usize| (child < next).then_some(child);
        std::iter::successors(inside(entry + 1), move |child| inside(self.entries[*child].next as usize))
    }
}

/// A value of which an index knows the parts.
#[derive(Clone)]
pub(crate) struct Known<'a> {
    index: Rc<Index<'a>>,
    entry: usize,
}

impl<'a> Known<'a> {
    fn entry(&self) -> &Entry {
        &self.index.entries[self.entry]
    }

    fn place(&self) -> &'a Place {
        self.index.wanted.place(self.entry().at)
    }

    /// Whether looking inside needs no reading, at least for some parts.
    pub(super) fn has_parts(&self) -> bool {
        !self.place().is_leaf()
    }

    /// The member of the object that is `text`; `None` if this one was not wanted, so that nothing is known of it.
    pub(super) fn member(&self, text: &Text<'a>, name: &str) -> Option<Result<Node<'a>, CanonicalError>> {
        let at = self.place().member(name)?;
        Some(match self.children().find(|(_, entry)| entry.at == at) {
            None => Ok(Node::Null),
            Some((child, Entry { again: 0, .. })) => Ok(self.part(text, child)),
            Some((_, Entry { again, .. })) => {
                Err(duplicate(text.offset() + (again - self.entry().start) as usize))
            }
        })
    }

    /// The element of the array that is `text` at a position from 0; `None` as for a member.
    pub(super) fn element(&self, text: &Text<'a>, position: usize) -> Option<Node<'a>> {
        let at = self.place().element(position)?;
        let child = match self.place().every() {
            Some(_) => self.children().nth(position),
            None => self.children().find(|(_, entry)| entry.at == at),
        };
        Some(child.map_or(Node::Null, |(child, _)| self.part(text, child)))
    }

    /// All elements of the array that is `text`, if something is wanted of every one.
    pub(super) fn elements(&self, text: &Text<'a>) -> Option<impl Iterator<Item = Node<'a>>> {
        self.place().every()?;
        Some(self.children().map(|(child, _)| self.part(text, child)))
    }

    fn children(&self) -> impl Iterator<Item = (usize, &Entry)> {
        let children = self.index.children(self.entry, self.entry().next as usize);
        children.map(|child| (child, &self.index.entries[child]))
    }

    /// The value of an entry inside of this one's, which is `text`.
    fn part(&self, text: &Text<'a>, child: usize) -> Node<'a> {
        let (whole, part) = (self.entry().start, &self.index.entries[child]);
        let known = Known { index: Rc::clone(&self.index), entry: child };
        let text = text.part((part.start - whole) as usize, (part.end - whole) as usize);
        Node::Raw(text, Some(known))
    }
}
