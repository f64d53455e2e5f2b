//! Taking a value apart: what the expression built leads on, each part to where it came from.

use super::places::Places;
use super::value::{Shape, Value};

impl<'e> Value<'e> {
    /// What does not depend on how the value is built: the places further on, and what has decided.
    fn further(&self, step: impl FnOnce(&Self) -> Self) -> Self {
        step(self).or_decided_by(self.decided)
    }

    pub(super) fn member(&self, places: &mut Places<'e>, name: &'e str, at: usize) -> Self {
        self.member_by(places, name, at, |known| known == name)
    }

    /// A member of a name in any case, or what is in the list there.
    pub(super) fn header(&self, places: &mut Places<'e>, name: &'e str, at: usize) -> Self {
        let value = self.member_by(places, name, at, |known| known.eq_ignore_ascii_case(name));
        let elements = value.elements(places);
        value.or(&elements)
    }

    fn member_by(
        &self,
        places: &mut Places<'e>,
        name: &'e str,
        at: usize,
        is_it: impl Fn(&str) -> bool,
    ) -> Self {
        self.further(|from| {
            let members = from.built.iter().flat_map(|built| match &built.shape {
                Shape::Hash(members) => members.as_slice(),
                _ => &[],
            });
            let built = Self::any(members.filter(|(known, _)| is_it(known)).map(|(_, value)| value));
            built.or(&Self::at(places.member(from.places, name, at)))
        })
    }

    /// Any element of the value, if it is a list.
    pub(super) fn elements(&self, places: &mut Places<'e>) -> Self {
        self.further(|from| {
            let elements = from.built.iter().flat_map(|built| match &built.shape {
                Shape::List(parts) => parts.as_slice(),
                Shape::Elements(of) => std::slice::from_ref(of),
                Shape::Hash(_) | Shape::Scalar(_) => &[],
            });
            Self::any(elements).or(&Self::at(places.element(from.places)))
        })
    }

    pub(super) fn element(&self, places: &mut Places<'e>, index: i64) -> Self {
        self.further(|from| {
            let elements = from.built.iter().filter_map(|built| match &built.shape {
                Shape::List(parts) => parts.get(position(parts.len(), index)?),
                Shape::Elements(of) => Some(of),
                Shape::Hash(_) | Shape::Scalar(_) => None,
            });
            Self::any(elements).or(&Self::at(places.element(from.places)))
        })
    }

    /// The elements between two positions. Part of a list of the input is a list at the same place.
    pub(super) fn slice(&self, start: Option<i64>, stop: Option<i64>, step: i64) -> Self {
        self.further(|from| {
            let chosen = from.built.iter().flat_map(|built| match &built.shape {
                Shape::List(parts) => {
                    let is_in = move |at: &usize| is_in_slice(*at, parts.len(), start, stop, step);
                    (0..parts.len()).filter(is_in).filter_map(|at| parts.get(at)).collect()
                }
                Shape::Elements(of) => vec![of],
                Shape::Hash(_) | Shape::Scalar(_) => Vec::new(),
            });
            Self::elements_of(Self::any(chosen)).or(&Self::at(from.places))
        })
    }

    /// The values of an object. Of one that is merged, not all are known, and so neither are their positions.
    pub(super) fn values(&self, places: &mut Places<'e>) -> Self {
        self.further(|from| {
            let members = from.built.iter().flat_map(|built| match &built.shape {
                Shape::Hash(members) => members.as_slice(),
                _ => &[],
            });
            let values = Self::any(members.map(|(_, value)| value));
            Self::elements_of(values.or(&Self::at(places.any_member(from.places))))
        })
    }

    /// The elements of a list, and of those that are lists, their elements.
    pub(super) fn flattened(&self, places: &mut Places<'e>) -> Self {
        let elements = self.elements(places);
        let inner = elements.elements(places);
        let single =
            elements.built.iter().filter(|built| matches!(built.shape, Shape::Hash(_) | Shape::Scalar(_)));
        let single =
            Self { built: single.cloned().collect(), places: elements.places, decided: elements.decided };
        Self::elements_of(inner.or(&single)).or_decided_by(self.decided)
    }

    pub(super) fn reversed(&self) -> Self {
        self.relisted(|parts| Self::built(Shape::List(parts.iter().rev().cloned().collect())))
    }

    /// In an order that is not known.
    pub(super) fn ordered(&self) -> Self {
        self.relisted(|parts| Self::elements_of(Self::any(parts)))
    }

    fn relisted(&self, new: impl Fn(&[Self]) -> Self) -> Self {
        let lists: Vec<_> = self
            .built
            .iter()
            .map(|built| match &built.shape {
                Shape::List(parts) => new(parts),
                _ => Self { built: vec![built.clone()], ..Self::default() },
            })
            .collect();
        Self::any(&lists).or(&Self { built: Vec::new(), ..*self })
    }
}

fn position(length: usize, index: i64) -> Option<usize> {
    match usize::try_from(index) {
        Ok(position) => Some(position),
        Err(_) => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}

/// Whether a position is in a slice, by the rules of Python.
fn is_in_slice(at: usize, length: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> bool {
    let (at, length, step) = (at as i128, length as i128, i128::from(step));
    let from_start = |end: i64| if end < 0 { i128::from(end) + length } else { i128::from(end) };
    let (start, stop) = (start.map(from_start), stop.map(from_start));
    if step > 0 {
        let start = start.unwrap_or(0).max(0);
        return start <= at && at < stop.unwrap_or(length) && (at - start) % step == 0;
    }
    let start = start.unwrap_or(length - 1).min(length - 1);
    at <= start && stop.is_none_or(|stop| at > stop) && (start - at) % step == 0
}
