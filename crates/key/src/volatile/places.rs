//! Places in the input, and sets of them.

use std::collections::BTreeSet;

use super::known;

/// Stands in a path for an element of a list.
pub(super) const ELEMENT: &str = "[]";

/// Stands in a path for the value of any member of an object.
pub(super) const ANY: &str = "*";

/// How many places one expression can lead to, before the rest is let pass: as many as a [`Set`] has bits.
const MAX_PLACES: usize = u128::BITS as usize;

/// From here on, a place that is named again is not told apart from where it was named before, so that what is named
/// over and over does not use up the places.
const CROWDED: usize = MAX_PLACES / 2;

/// A place from which something volatile can be reached, or that is volatile itself.
pub(super) struct Place<'e> {
    pub(super) path: Vec<&'e str>,
    /// Where in the expression its last member is named.
    pub(super) at: usize,
    volatile: bool,
}

/// Some of the places of an expression.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Set(u128);

impl Set {
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// All places that an expression leads to.
pub(super) struct Places<'e> {
    places: Vec<Place<'e>>,
    /// The members of the input that are named anywhere.
    named: BTreeSet<&'e str>,
}

impl<'e> Places<'e> {
    pub(super) fn new() -> Self {
        Self { places: Vec::new(), named: BTreeSet::new() }
    }

    /// The input itself.
    pub(super) fn root(&mut self) -> Set {
        self.set_of(Vec::new(), 0)
    }

    pub(super) fn is_named(&self, member: &str) -> bool {
        self.named.contains(member)
    }

    pub(super) fn of(&self, set: Set) -> impl Iterator<Item = &Place<'e>> {
        self.places.iter().enumerate().filter(move |(bit, _)| set.0 >> bit & 1 == 1).map(|(_, place)| place)
    }

    /// A member of what is at any of these places.
    pub(super) fn member(&mut self, from: Set, name: &'e str, at: usize) -> Set {
        if self.of(from).any(|place| place.path.is_empty()) {
            self.named.insert(name);
        }
        self.further(from, name, Some(at))
    }

    /// An element of what is at any of these places.
    pub(super) fn element(&mut self, from: Set) -> Set {
        self.further(from, ELEMENT, None)
    }

    /// The value of any member of what is at any of these places.
    pub(super) fn any_member(&mut self, from: Set) -> Set {
        self.further(from, ANY, None)
    }

    /// Those whose value is volatile, whatever it is part of.
    pub(super) fn volatile(&self, from: Set) -> Set {
        self.filtered(from, |place| place.volatile)
    }

    /// Those with a value of their own, and not only with all that is in an object or a list.
    pub(super) fn scalars(&self, from: Set) -> Set {
        self.filtered(from, |place| known::is_scalar(&place.path))
    }

    /// Those that are one place and not the same place in each element of a list.
    pub(super) fn single(&self, from: Set) -> Set {
        self.filtered(from, |place| !place.path.contains(&ELEMENT))
    }

    fn filtered(&self, from: Set, keep: impl Fn(&Place<'e>) -> bool) -> Set {
        let bits = self.places.iter().enumerate().filter(|(_, place)| keep(place));
        Set(bits.fold(0, |kept, (bit, _)| kept | 1 << bit) & from.0)
    }

    fn further(&mut self, from: Set, step: &'e str, at: Option<usize>) -> Set {
        // What is inside of a volatile value is as volatile.
        let volatile = self.volatile(from);
        let further = |place: &Place<'e>| {
            let mut path = place.path.clone();
            // Elements of elements lead nowhere else, and would be paths without end.
            if !matches!((path.last(), step), (Some(&ELEMENT), ELEMENT) | (Some(&ANY), ELEMENT | ANY)) {
                path.push(step);
            }
            known::leads_on(&path).then(|| (path, at.unwrap_or(place.at)))
        };
        let found: Vec<_> = self.of(Set(from.0 & !volatile.0)).filter_map(further).collect();
        found.into_iter().fold(volatile, |set, (path, at)| set.with(self.set_of(path, at)))
    }

    fn set_of(&mut self, path: Vec<&'e str>, at: usize) -> Set {
        let crowded = self.places.len() >= CROWDED;
        let is_here = |place: &Place<'e>| place.path == path && (crowded || place.at == at);
        let bit = self.places.iter().position(is_here).unwrap_or(self.places.len());
        if bit >= MAX_PLACES {
            return Set::default();
        }
        if bit == self.places.len() {
            let volatile = known::value(&path).is_some();
            self.places.push(Place { path, at, volatile });
        }
        Set(1 << bit)
    }
}
