//! JSON as text: a strict tokenizer, the canonical form, and a value that opens lazily.
//!
//! Nothing here builds a tree of the whole document, and nothing goes through `serde_json`,
//! whose map order and number type depend on features that any crate of a build can switch on.

pub(crate) mod canonical;
mod copy;
pub(crate) mod error;
pub(crate) mod index;
mod members;
pub(crate) mod node;
mod open;
pub(crate) mod scan;
pub(crate) mod text;
pub(crate) mod wanted;
