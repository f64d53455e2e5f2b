//! The kill switch: `IDEMPOTENCY_DISABLED`.

use std::sync::OnceLock;

use crate::Error;

/// The environment variable that switches protection off for the whole process.
pub const VARIABLE: &str = "IDEMPOTENCY_DISABLED";

/// Whether protection is switched off. Read once; says so, loudly, when it is.
///
/// # Errors
/// [`Error::Config`] when the variable holds anything but `true`, `1`, `yes`, `on`, `false`, `0`, `no`,
/// `off` or nothing: neither meaning of a word that is not understood is safe to guess.
pub fn disabled() -> Result<bool, Error> {
    static SWITCH: OnceLock<Result<bool, String>> = OnceLock::new();
    let switch = SWITCH.get_or_init(|| {
        let text = std::env::var_os(VARIABLE).unwrap_or_default();
        let disabled = parse(&text.to_string_lossy());
        if disabled == Ok(true) {
            tracing::warn!(
                target: "lambda_idempotency",
                "{VARIABLE} is set: nothing is protected, every delivery runs"
            );
        }
        disabled
    });
    switch.clone().map_err(|message| Error::Config { message })
}

/// Reads the switch's text: case and surrounding space do not matter.
fn parse(text: &str) -> Result<bool, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "" | "false" | "0" | "no" | "off" => Ok(false),
        "true" | "1" | "yes" | "on" => Ok(true),
        _ => Err(format!(
            "{VARIABLE} is not understood: write `true` to switch protection off, `false` or nothing to keep it on"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn only_a_clear_yes_switches_protection_off() {
        for text in ["false", "0", "", "FALSE", " no ", "off", "\t"] {
            assert_eq!(parse(text), Ok(false), "{text:?}");
        }
        for text in ["true", "1", "TRUE", "yes", " on "] {
            assert_eq!(parse(text), Ok(true), "{text:?}");
        }
        for text in ["maybe", "2", "disabled", "nope", "tru"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
