//! Which places of the input, and of the texts inside of it, an expression will look at.
//!
//! It only has to be right about what it says: a place that is missing here is found by reading again.

use super::ast::{Ast, Kind};
use super::functions::Function;
use crate::json::index::Guide;
use crate::json::wanted::{At, Wanted};

/// The places of one expression.
#[derive(Default)]
pub(crate) struct Plan {
    wanted: Wanted,
    input: Option<At>,
    /// For each call of `powertools_json`, by where it begins: the place of the JSON that it gives.
    inside: Vec<(usize, At)>,
}

impl Plan {
    pub(super) fn of(ast: &Ast) -> Self {
        let mut plan = Plan::default();
        plan.input = plan.wanted.beginning();
        let input = Vec::from_iter(plan.input);
        plan.follow(ast, &input);
        for at in input.into_iter().chain(plan.inside.iter().map(|(_, at)| *at)).collect::<Vec<_>>() {
            plan.wanted.settle(at);
        }
        plan
    }

    /// What is wanted of the input.
    pub(crate) fn input(&self) -> Option<Guide<'_>> {
        self.input.map(|at| Guide { wanted: &self.wanted, at })
    }

    /// What is wanted of the JSON that a call gives.
    pub(crate) fn inside(&self, call: &Ast) -> Option<Guide<'_>> {
        let (_, at) = self.inside.iter().find(|(start, _)| *start == call.start)?;
        Some(Guide { wanted: &self.wanted, at: *at })
    }

    /// Where a part of the expression leads from any of these places. What a function, a projection or a
    /// multi-select makes stands nowhere.
    fn follow(&mut self, ast: &Ast, from: &[At]) -> Vec<At> {
        match &ast.kind {
            // The elements of a slice are elements of the array.
            Kind::Current | Kind::Slice { .. } => from.to_vec(),
            Kind::Field(name) => further(from, |at| self.wanted.add_member(at, name)),
            Kind::Index(position) => match usize::try_from(*position) {
                Ok(position) => further(from, |at| self.wanted.add_element(at, position)),
                Err(_) => Vec::new(),
            },
            Kind::Then(left, right) => {
                let left = self.follow(left, from);
                self.follow(right, &left)
            }
            Kind::Or(left, right) | Kind::And(left, right) => {
                let mut places = self.follow(left, from);
                for at in self.follow(right, from) {
                    if !places.contains(&at) {
                        places.push(at);
                    }
                }
                places
            }
            Kind::Each(source, each) => {
                let elements = self.elements(source, from);
                self.follow(each, &elements);
                Vec::new()
            }
            Kind::Filter(source, each, predicate) => {
                let elements = self.elements(source, from);
                self.follow(predicate, &elements);
                self.follow(each, &elements);
                Vec::new()
            }
            Kind::Call(function, arguments) => {
                arguments.iter().for_each(|argument| drop(self.follow(argument, from)));
                match function {
                    Function::PowertoolsJson => Vec::from_iter(self.add_inside(ast)),
                    _ => Vec::new(),
                }
            }
            // A reference is applied to what the function takes out of its other argument.
            Kind::Reference(applied) => {
                self.follow(applied, &[]);
                Vec::new()
            }
            Kind::Literal(_)
            | Kind::List(_)
            | Kind::Hash(_)
            | Kind::Not(_)
            | Kind::Compare(..)
            | Kind::Values(_)
            | Kind::Flatten(_) => {
                ast.children().into_iter().for_each(|child| drop(self.follow(child, from)));
                Vec::new()
            }
        }
    }

    /// The places of the elements over which a projection runs.
    fn elements(&mut self, source: &Ast, from: &[At]) -> Vec<At> {
        if let Kind::Flatten(source) = &source.kind {
            let mut elements = self.elements(source, from);
            // One that is an array itself is taken apart.
            elements.extend(self.every(&elements.clone()));
            return elements;
        }
        let source = self.follow(source, from);
        self.every(&source)
    }

    fn every(&mut self, from: &[At]) -> Vec<At> {
        further(from, |at| self.wanted.add_every(at))
    }

    fn add_inside(&mut self, call: &Ast) -> Option<At> {
        let known = self.inside.iter().find(|(start, _)| *start == call.start);
        if let Some((_, known)) = known {
            return Some(*known);
        }
        let at = self.wanted.beginning()?;
        self.inside.push((call.start, at));
        Some(at)
    }
}

fn further(from: &[At], step: impl FnMut(At) -> Option<At>) -> Vec<At> {
    from.iter().copied().filter_map(step).collect()
}
