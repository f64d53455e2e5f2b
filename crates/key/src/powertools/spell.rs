//! A value in the spelling of a language's JSON library.

use std::fmt::Write;

use crate::expression::select::SelectError;
use crate::json::canonical::MAX_BYTES;
use crate::json::error::{CanonicalError, CanonicalReason};
use crate::json::node::{Member, Node, duplicate};
use crate::json::scan::MAX_DEPTH;

/// How a language writes what a hash is taken of.
pub(super) trait Spelling {
    /// Between two members or elements.
    const COMMA: &'static str;
    /// After a member's name.
    const COLON: &'static str;

    /// Appends a number, given as a JSON text spells it.
    fn number(out: &mut String, text: &str);

    /// Appends a string, with its quotes.
    fn string(out: &mut String, text: &str);

    /// Brings members into the order in which they are written.
    ///
    /// # Errors
    /// When one of them would not be written.
    fn order(members: &mut [Member<'_>]) -> Result<(), SelectError>;
}

/// The value in this spelling.
pub(super) fn spell<S: Spelling>(node: &Node<'_>) -> Result<String, SelectError> {
    let mut out = String::new();
    write::<S>(&mut out, node, 0)?;
    Ok(out)
}

fn write<S: Spelling>(out: &mut String, node: &Node<'_>, depth: usize) -> Result<(), SelectError> {
    let refuse = |reason| Err(CanonicalError::new(0, reason).into());
    if depth > MAX_DEPTH {
        return refuse(CanonicalReason::TooDeep);
    }
    if out.len() > MAX_BYTES {
        return refuse(CanonicalReason::TooLarge);
    }
    match node {
        Node::Null => out.push_str("null"),
        Node::Bool(true) => out.push_str("true"),
        Node::Bool(false) => out.push_str("false"),
        Node::Number(text) => S::number(out, text.as_str()),
        Node::String(text) => S::string(out, text.as_str()),
        Node::Raw(..) => write::<S>(out, &node.open_fully()?, depth)?,
        Node::Array(elements) => {
            out.push('[');
            for (position, element) in elements.iter().enumerate() {
                if position > 0 {
                    out.push_str(S::COMMA);
                }
                write::<S>(out, element, depth + 1)?;
            }
            out.push(']');
        }
        Node::Object(members) => {
            let mut members = members.to_vec();
            // In the order in which they were inserted, which is that of the text.
            S::order(&mut members)?;
            let mut names: Vec<_> = members.iter().map(|member| (member.name.as_str(), member.at)).collect();
            names.sort_unstable();
            if let Some(pair) = names.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return Err(duplicate(pair[1].1).into());
            }
            out.push('{');
            for (position, Member { name, value, .. }) in members.iter().enumerate() {
                if position > 0 {
                    out.push_str(S::COMMA);
                }
                S::string(out, name.as_str());
                out.push_str(S::COLON);
                write::<S>(out, value, depth + 1)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

/// Appends a string with its quotes; what has no short escape of its own is written in UTF-16 where `is_escaped` says
/// so.
pub(super) fn quoted(out: &mut String, text: &str, is_escaped: impl Fn(char) -> bool) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            _ if is_escaped(character) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}
