//! An expression's text as tokens.

use super::error::ExpressionError;
use crate::json::canonical::canonical;
use crate::json::scan::Scanner;
use crate::json::text::{decode, write_string};

/// A token, and which bytes of the expression it is.
#[derive(Clone, Debug)]
pub(crate) struct Spanned {
    pub(crate) token: Token,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// What the parser reads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Name(String),
    Quoted(String),
    Number(i64),
    /// Canonical JSON text.
    Literal(String),
    /// Operators and punctuation: `.`, `||`, `[?`, `[]`, …
    Sign(&'static str),
    End,
}

/// Longest first, so that `||` is not read as `|` twice.
const SIGNS: [&str; 24] = [
    "||", "&&", "==", "!=", "<=", ">=", "[?", "[]", ".", "*", "|", "[", "]", ",", ":", "!", "<", ">", "@",
    "&", "(", ")", "{", "}",
];

pub(crate) fn tokenize(text: &str) -> Result<Vec<Spanned>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut pos = 0;
    while let Some(first) = text[pos..].chars().next() {
        let rest = &text[pos..];
        let (token, length) = match first {
            ' ' | '\n' | '\t' | '\r' => {
                pos += 1;
                continue;
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let length = name_length(rest);
                (Token::Name(rest[..length].to_owned()), length)
            }
            '0'..='9' | '-' => number(text, pos)?,
            '"' => quoted(text, pos)?,
            '\'' => raw_string(text, pos)?,
            '`' => literal(text, pos)?,
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (Token::Sign(sign), sign.len()),
                None => return Err(unknown_character(text, pos, first)),
            },
        };
        tokens.push(Spanned { token, start: pos, end: pos + length });
        pos += length;
    }
    tokens.push(Spanned { token: Token::End, start: pos, end: pos });
    Ok(tokens)
}

fn name_length(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

fn unknown_character(text: &str, pos: usize, character: char) -> ExpressionError {
    let problem = format!("`{}` means nothing in an expression", character.escape_debug());
    let error = ExpressionError::new(text, pos, problem);
    match character {
        '=' => error.with_cure("compare with `==`"),
        '$' => error.with_cure("this is JMESPath, not JSONPath: start at the member, without `$`"),
        '/' => error.with_cure("this is JMESPath, not a JSON pointer: join members with `.`"),
        _ => error.with_cure("put a member name that contains it in double quotes"),
    }
}

fn number(text: &str, pos: usize) -> Result<(Token, usize), ExpressionError> {
    let digits = text[pos..].trim_start_matches('-').len();
    let sign = text.len() - pos - digits;
    let count = text[pos + sign..].bytes().take_while(u8::is_ascii_digit).count();
    if sign > 0 && count == 0 {
        return Err(hyphen(text, pos));
    }
    let end = pos + sign + count;
    let value = text[pos..end].parse::<i64>().ok().filter(|value| value.unsigned_abs() <= 1 << 53);
    let Some(value) = value.filter(|value| *value != 0 || sign == 0) else {
        return Err(ExpressionError::new(text, pos, "this is not a position in an array"));
    };
    Ok((Token::Number(value), end - pos))
}

/// A lone `-`: almost always a header name that needs quotes.
fn hyphen(text: &str, pos: usize) -> ExpressionError {
    let error = ExpressionError::new(text, pos, "a name with a hyphen must be quoted");
    let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let start = text[..pos].rfind(|c| !in_name(c)).map_or(0, |at| at + 1);
    let end = text[pos..].find(|c| !in_name(c)).map_or(text.len(), |at| pos + at);
    let path = text[..start].rfind(|c: char| !in_name(c) && c != '.').map_or(0, |at| at + 1);
    if start == pos && end == pos + 1 {
        return error;
    }
    let (path, name) = (text[path..start].trim_start(), &text[start..end]);
    error.with_cure(format!("write {path}\"{name}\""))
}

/// The end of something between delimiters, after the closing one; a backslash protects.
fn closing(text: &str, pos: usize, delimiter: u8) -> Result<usize, ExpressionError> {
    let bytes = text.as_bytes();
    let mut at = pos + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == delimiter => return Ok(at + 1),
            _ => at += 1,
        }
    }
    let delimiter = char::from(delimiter);
    Err(ExpressionError::new(text, pos, format!("this {delimiter} is never closed")))
}

fn quoted(text: &str, pos: usize) -> Result<(Token, usize), ExpressionError> {
    let end = closing(text, pos, b'"')?;
    let quoted = &text[pos..end];
    let span = Scanner::new(quoted)
        .string()
        .map_err(|error| ExpressionError::new(text, pos + error.offset(), error.reason().to_string()))?;
    Ok((Token::Quoted(decode(&quoted[span.start..span.end])), end - pos))
}

fn raw_string(text: &str, pos: usize) -> Result<(Token, usize), ExpressionError> {
    let end = closing(text, pos, b'\'')?;
    let content = text[pos + 1..end - 1].replace("\\'", "'");
    let mut json = Vec::new();
    write_string(&mut json, &content);
    Ok((Token::Literal(String::from_utf8_lossy(&json).into_owned()), end - pos))
}

fn literal(text: &str, pos: usize) -> Result<(Token, usize), ExpressionError> {
    let end = closing(text, pos, b'`')?;
    let content = text[pos + 1..end - 1].replace("\\`", "`");
    let json = canonical(&content).map_err(|error| {
        let problem = format!("between backticks stands JSON, and this is not: {}", error.reason());
        let cure = "write a text as 'text', a number as `1`";
        ExpressionError::new(text, pos, problem).with_cure(cure)
    })?;
    Ok((Token::Literal(json), end - pos))
}
