//! What a part of an expression can select, as far as something volatile can be reached from it.

use std::rc::Rc;

use super::places::Set;

/// How many lists and objects of its own an expression can select from in one place (`[a] || [b] || …`), before
/// the rest is let pass.
const MAX_BUILT: usize = 16;

/// The alternatives, of which an input selects one.
#[derive(Clone, Default)]
pub(super) struct Value<'e> {
    /// What is at one of these places of the input.
    pub(super) places: Set,
    /// What is chosen, or is true or false, by what is at these places. It stays with all that is taken out.
    pub(super) decided: Set,
    /// What the expression builds.
    pub(super) built: Vec<Rc<Built<'e>>>,
}

/// A value that the expression makes, with all that is in it.
pub(super) struct Built<'e> {
    pub(super) shape: Shape<'e>,
    places: Set,
    decided: Set,
}

pub(super) enum Shape<'e> {
    /// `[a, b]`: each has its position.
    List(Vec<Value<'e>>),
    /// `{x: a, y: b}`
    Hash(Vec<(&'e str, Value<'e>)>),
    /// Any number of these in a list.
    Elements(Value<'e>),
    /// A text or a number that is made of all of this.
    Scalar(Value<'e>),
}

impl<'e> Value<'e> {
    pub(super) fn at(places: Set) -> Self {
        Self { places, ..Self::default() }
    }

    pub(super) fn decided_by(decided: Set) -> Self {
        Self { decided, ..Self::default() }
    }

    pub(super) fn built(shape: Shape<'e>) -> Self {
        let parts: Vec<&Value<'e>> = match &shape {
            Shape::List(parts) => parts.iter().collect(),
            Shape::Hash(members) => members.iter().map(|(_, part)| part).collect(),
            Shape::Elements(of) | Shape::Scalar(of) => vec![of],
        };
        let places = parts.iter().fold(Set::default(), |all, part| all.with(part.all_places()));
        let decided = parts.iter().fold(Set::default(), |all, part| all.with(part.all_decided()));
        if places.is_empty() && decided.is_empty() {
            return Self::default();
        }
        Self { built: vec![Rc::new(Built { shape, places, decided })], ..Self::default() }
    }

    pub(super) fn elements_of(of: Value<'e>) -> Self {
        Self::built(Shape::Elements(of))
    }

    /// Either of the two.
    pub(super) fn or(mut self, other: &Value<'e>) -> Self {
        self.places = self.places.with(other.places);
        self.decided = self.decided.with(other.decided);
        for built in &other.built {
            let is_new = !self.built.iter().any(|known| Rc::ptr_eq(known, built));
            if is_new && self.built.len() < MAX_BUILT {
                self.built.push(Rc::clone(built));
            }
        }
        self
    }

    pub(super) fn or_decided_by(mut self, decided: Set) -> Self {
        self.decided = self.decided.with(decided);
        self
    }

    /// Any of these.
    pub(super) fn any<'v>(values: impl IntoIterator<Item = &'v Value<'e>>) -> Self
    where
        'e: 'v,
    {
        values.into_iter().fold(Self::default(), Self::or)
    }

    /// Every place of which something is in the value, however deep.
    pub(super) fn all_places(&self) -> Set {
        self.places.with(self.places_in_built())
    }

    /// Every place of which something is in what the expression builds.
    pub(super) fn places_in_built(&self) -> Set {
        self.built.iter().fold(Set::default(), |all, built| all.with(built.places))
    }

    /// Every place that decides about something in the value, however deep.
    pub(super) fn all_decided(&self) -> Set {
        self.built.iter().fold(self.decided, |all, built| all.with(built.decided))
    }
}
