//! Which expressions select the same in every language.

use crate::expression::Expression;
use crate::expression::ast::{Ast, Kind};
use crate::expression::functions::Function;
use crate::expression::select::SelectError;

/// Refuses what depends on how a language orders an object's members, calculates, or counts a text's characters.
pub(super) fn check(expression: &Expression) -> Result<(), SelectError> {
    let reason = |ast: &Ast| match &ast.kind {
        Kind::Values(_) => Some("depends on the order of an object's members"),
        Kind::Call(function, _) => differs(*function),
        _ => None,
    };
    // The depth of an expression is bounded.
    fn first<'e>(
        ast: &'e Ast,
        reason: &dyn Fn(&Ast) -> Option<&'static str>,
    ) -> Option<(&'e Ast, &'static str)> {
        let own = reason(ast).map(|reason| (ast, reason));
        own.or_else(|| ast.children().into_iter().find_map(|child| first(child, reason)))
    }
    let Some((ast, reason)) = first(expression.ast(), &reason) else { return Ok(()) };
    let part = expression.as_str().get(ast.start..ast.end).unwrap_or(expression.as_str()).trim().to_owned();
    Err(SelectError::OtherInPowertools { part, reason })
}

fn differs(function: Function) -> Option<&'static str> {
    match function {
        Function::Keys | Function::Merge | Function::Values => {
            Some("depends on the order of an object's members")
        }
        Function::Abs
        | Function::Avg
        | Function::Ceil
        | Function::Floor
        | Function::Sum
        | Function::ToNumber
        | Function::ToString => Some("depends on how a language calculates and spells numbers"),
        Function::Length
        | Function::Max
        | Function::MaxBy
        | Function::Min
        | Function::MinBy
        | Function::Reverse
        | Function::Sort
        | Function::SortBy => Some("depends on what a language takes for a character"),
        Function::Contains
        | Function::EndsWith
        | Function::Header
        | Function::Join
        | Function::Map
        | Function::NotNull
        | Function::PowertoolsBase64
        | Function::PowertoolsBase64Gzip
        | Function::PowertoolsJson
        | Function::StartsWith
        | Function::ToArray
        | Function::Type => None,
    }
}
