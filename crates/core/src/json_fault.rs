//! JSON failures, told without the text that failed.

use std::fmt;

/// What kind of JSON failure it was and where, without the text that failed: serde's own messages
/// quote the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFault {
    kind: &'static str,
    /// The name of a field that is missing: the type's, not the text's.
    missing: Option<Box<str>>,
    line: usize,
    column: usize,
}

impl JsonFault {
    pub(crate) const UNKNOWN_ENCODING: Self = Self {
        kind: "its encoding is not known here: another cipher or place, none, or a newer version wrote it",
        missing: None,
        line: 0,
        column: 0,
    };
    pub(crate) const UNDECRYPTABLE: Self = Self {
        kind: "it cannot be decrypted: another key, data moved from another record, or changed data",
        missing: None,
        line: 0,
        column: 0,
    };
    pub(crate) const DAMAGED: Self =
        Self { kind: "its encoded form is damaged", missing: None, line: 0, column: 0 };
    pub(crate) const STORED_FAILURE: Self = Self {
        kind: "it is a stored failure, and this function replays none",
        missing: None,
        line: 0,
        column: 0,
    };
}

/// What this library's own code says when it refuses to write a value. It quotes nothing of the value, so a
/// [`JsonFault`] keeps it.
#[doc(hidden)]
pub mod refusals {
    /// JSON has no such numbers.
    pub const NOT_FINITE: &str = "it holds NaN or an infinity, which have no JSON form";
    /// The value beside a captured text is no longer sure to be what the text says.
    pub const CHANGED_SINCE_CAPTURED: &str = "its value was borrowed as `&mut` after its text was captured, so that \
         the two may differ: change a copy or what `into_inner()` gives, and name as input what says which work it is";
}

impl JsonFault {
    /// What was wrong with a value that was to be written.
    pub(crate) fn writing(error: &serde_json::Error) -> Self {
        let said = error.to_string();
        let known = [refusals::NOT_FINITE, refusals::CHANGED_SINCE_CAPTURED].into_iter().find(|k| *k == said);
        let other = "its `Serialize` refuses, or a map in it has keys that are no text";
        Self { kind: known.unwrap_or(other), missing: None, line: 0, column: 0 }
    }
}

impl From<&serde_json::Error> for JsonFault {
    fn from(error: &serde_json::Error) -> Self {
        let kind = match error.classify() {
            serde_json::error::Category::Io => "writing failed",
            serde_json::error::Category::Syntax => "syntax error",
            serde_json::error::Category::Data => "a wrong type or a missing field",
            serde_json::error::Category::Eof => "it ends too early",
        };
        let missing = missing_field(&error.to_string()).map(Into::into);
        Self { kind, missing, line: error.line(), column: error.column() }
    }
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.missing {
            Some(field) => write!(f, "the field `{field}` is missing")?,
            None => f.write_str(self.kind)?,
        }
        if self.line > 0 {
            write!(f, " at line {} column {}", self.line, self.column)?;
        }
        Ok(())
    }
}

/// The longest name that is shown.
const LONGEST_NAME: usize = 64;

/// The field of which serde says that it is missing, if that can be a field's name and nothing else.
fn missing_field(message: &str) -> Option<&str> {
    let (name, _) = message.strip_prefix("missing field `")?.split_once('`')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$');
    (name.len() <= LONGEST_NAME && name.chars().all(is_name)).then_some(name)
}
