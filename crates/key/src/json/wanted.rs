//! Which places in a text will be looked at, known before the text is read.

/// How many places there can be. Beyond them an expression finds its way without, by reading again.
const MAX_PLACES: u8 = u8::MAX;

/// Paths from the beginnings of texts, as tries of places.
#[derive(Default)]
pub(crate) struct Wanted {
    places: Vec<Place>,
}

/// A place, as its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At(u8);

/// What is wanted inside of one value.
#[derive(Default)]
pub(crate) struct Place {
    members: Vec<(String, At)>,
    elements: Vec<(usize, At)>,
    /// The same of every element; `elements` then do not count, so that each has one place.
    every: Option<At>,
}

impl Place {
    pub(crate) fn member(&self, name: &str) -> Option<At> {
        find(&self.members, |known| known == name)
    }

    /// The element at a position, from 0.
    pub(crate) fn element(&self, position: usize) -> Option<At> {
        self.every.or_else(|| find(&self.elements, |known| *known == position))
    }

    pub(crate) fn every(&self) -> Option<At> {
        self.every
    }

    pub(crate) fn has_members(&self) -> bool {
        !self.members.is_empty()
    }

    pub(crate) fn has_elements(&self) -> bool {
        self.every.is_some() || !self.elements.is_empty()
    }

    /// Nothing inside is wanted.
    pub(crate) fn is_leaf(&self) -> bool {
        !self.has_members() && !self.has_elements()
    }
}

fn find<T>(children: &[(T, At)], is: impl Fn(&T) -> bool) -> Option<At> {
    children.iter().find(|(known, _)| is(known)).map(|(_, at)| *at)
}

impl Wanted {
    pub(crate) fn place(&self, at: At) -> &Place {
        &self.places[usize::from(at.0)]
    }

    fn place_mut(&mut self, at: At) -> &mut Place {
        &mut self.places[usize::from(at.0)]
    }

    /// The beginning of another text; `None` if there are too many places.
    pub(crate) fn beginning(&mut self) -> Option<At> {
        let added = u8::try_from(self.places.len()).ok().filter(|added| *added < MAX_PLACES)?;
        self.places.push(Place::default());
        Some(At(added))
    }

    pub(crate) fn add_member(&mut self, at: At, name: &str) -> Option<At> {
        if let Some(known) = self.place(at).member(name) {
            return Some(known);
        }
        let added = self.beginning()?;
        self.place_mut(at).members.push((name.to_owned(), added));
        Some(added)
    }

    pub(crate) fn add_element(&mut self, at: At, position: usize) -> Option<At> {
        if let Some(known) = find(&self.place(at).elements, |known| *known == position) {
            return Some(known);
        }
        let added = self.beginning()?;
        self.place_mut(at).elements.push((position, added));
        Some(added)
    }

    pub(crate) fn add_every(&mut self, at: At) -> Option<At> {
        if let Some(known) = self.place(at).every {
            return Some(known);
        }
        let added = self.beginning()?;
        self.place_mut(at).every = Some(added);
        Some(added)
    }

    /// Once all is added, below a beginning: where nothing is wanted inside of the elements of an array, they need
    /// not be remembered.
    pub(crate) fn settle(&mut self, at: At) {
        let Place { members, elements, every } = self.place(at);
        let named = members.iter().map(|(_, below)| *below);
        let below: Vec<At> = named.chain(elements.iter().map(|(_, below)| *below)).chain(*every).collect();
        below.into_iter().for_each(|below| self.settle(below));
        if self.place(at).every.is_some_and(|every| self.place(every).is_leaf()) {
            self.place_mut(at).every = None;
        }
    }
}
