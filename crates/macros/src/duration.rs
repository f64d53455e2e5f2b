//! The one form of a duration in an argument: `"30s"`, `"15m"`, `"1h"`, `"7d"`.

/// Whole seconds of a duration text; what is wrong with it otherwise.
pub(crate) fn seconds(text: &str) -> Result<u64, String> {
    let complain = |what: &str| {
        Err(format!("{what}: write a whole number and one of s, m, h, d: \"30s\", \"15m\", \"1h\", \"7d\""))
    };
    let Some(unit) = text.chars().last() else { return complain("the duration is empty") };
    let factor = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        _ => return complain(&format!("`{text}` has no unit that is known")),
    };
    let digits = &text[..text.len() - unit.len_utf8()];
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return complain(&format!("`{text}` is no duration"));
    }
    match digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)) {
        // A hundred years: more than any record needs, and far from every overflow.
        Some(seconds) if seconds > 100 * 366 * 24 * 3600 => {
            complain(&format!("`{text}` is longer than a hundred years"))
        }
        Some(0) => complain(&format!("`{text}` is no time at all")),
        Some(seconds) => Ok(seconds),
        None => complain(&format!("`{text}` is too large")),
    }
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn each_unit() {
        assert_eq!(
            ["30s", "15m", "1h", "7d"].map(|text| seconds(text).ok()),
            [Some(30), Some(900), Some(3600), Some(604_800)]
        );
    }

    #[test]
    fn anything_else_is_refused() {
        for text in
            ["", "5", "s", "1 h", "-1s", "1.5h", "0s", "1w", "99999999999999999999d", "1000000d", "½h", "1é"]
        {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
