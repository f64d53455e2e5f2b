//! The arguments' names, and what somebody meant who wrote another.

/// Each argument, and how it is written.
const ARGUMENTS: [(&str, &str); 15] = [
    ("key", "key = \"order_id\""),
    ("allow_volatile_key", "allow_volatile_key"),
    ("input", "input = order"),
    ("fingerprint", "fingerprint = \"[instruction, model]\""),
    ("expires_after", "expires_after = \"1h\""),
    ("store", "store = self.store.clone()"),
    ("name", "name = \"orders.submit\""),
    ("wait", "wait = \"10s\""),
    ("in_progress", "in_progress = \"skip\""),
    ("on_error", "on_error = \"store\""),
    ("store_if", "store_if = Receipt::is_final"),
    ("on_replay", "on_replay = look"),
    ("previous", "previous = \"[order_id, continues]\""),
    ("policy", "policy = POLICY"),
    ("crate", "crate = my_facade::lambda_idempotency"),
];

/// What other libraries call them.
const ELSEWHERE: [(&str, &str); 22] = [
    ("arg", "input"),
    ("argument", "input"),
    ("payload", "input"),
    ("data", "input"),
    ("event_key", "key"),
    ("key_expr", "key"),
    ("jmespath", "key"),
    ("validation", "fingerprint"),
    ("validate", "fingerprint"),
    ("compare", "fingerprint"),
    ("ttl", "expires_after"),
    ("expiry", "expires_after"),
    ("expires", "expires_after"),
    ("expires_in", "expires_after"),
    ("expiration", "expires_after"),
    ("persistence", "store"),
    ("persistence_store", "store"),
    ("backend", "store"),
    ("prefix", "name"),
    ("key_prefix", "name"),
    ("timeout", "wait"),
    ("config", "policy"),
];

/// What only a policy says.
const IN_POLICY: [&str; 8] = [
    "lease",
    "at_most_once",
    "margin",
    "missing_key",
    "fail_open",
    "result_mode",
    "offload_over",
    "store_timeout",
];

/// The list of what may be written.
pub(crate) fn allowed() -> String {
    ARGUMENTS.map(|(name, _)| format!("`{name}`")).join(", ")
}

/// How the argument `name` is written; by the nearest one for a name that there is not.
pub(crate) fn example(name: &str) -> &'static str {
    let name = meant(name).unwrap_or("key");
    ARGUMENTS.iter().find(|(known, _)| *known == name).map_or("key = \"order_id\"", |(_, example)| example)
}

pub(crate) fn is_known(name: &str) -> bool {
    ARGUMENTS.iter().any(|(known, _)| *known == name)
}

/// What to say to an argument that there is not.
pub(crate) fn unknown(name: &str) -> String {
    let allowed = allowed();
    if IN_POLICY.contains(&name) {
        return format!(
            "`{name}` is part of the policy: write `policy = Policy::new().{name}(…)`; the arguments are {allowed}"
        );
    }
    match meant(name) {
        Some(meant) => {
            format!("unknown argument `{name}`; did you mean `{meant}`? The arguments are {allowed}")
        }
        None => format!("unknown argument `{name}`; the arguments are {allowed}"),
    }
}

/// The argument that `name` stands for, or that it is a misspelling of.
pub(crate) fn meant(name: &str) -> Option<&'static str> {
    let plain = |name: &str| name.to_lowercase().replace('_', "");
    let written = plain(name);
    if let Some((_, ours)) = ELSEWHERE.iter().find(|(theirs, _)| plain(theirs) == written) {
        return Some(ours);
    }
    let known = ARGUMENTS.iter().map(|(known, _)| (distance(&plain(known), &written), *known));
    let (distance, known) = known.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + known.len() / 5).then_some(known)
}

/// How many letters are to be changed, added, left out or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{ELSEWHERE, is_known, meant};

    #[test]
    fn misspellings_find_what_was_meant() {
        for (written, ours) in [
            ("kye", "key"),
            ("keys", "key"),
            ("Key", "key"),
            ("imput", "input"),
            ("fingerprnt", "fingerprint"),
            ("expires_aftr", "expires_after"),
            ("expiresAfter", "expires_after"),
            ("in_progres", "in_progress"),
            ("TTL", "expires_after"),
            ("stor", "store"),
        ] {
            assert_eq!(meant(written), Some(ours), "{written}");
        }
    }

    #[test]
    fn other_words_mean_nothing() {
        for written in ["retry", "cache", "x", "region", "serialise_with"] {
            assert_eq!(meant(written), None, "{written}");
        }
    }

    #[test]
    fn the_names_of_other_libraries_lead_to_ours() {
        for (theirs, ours) in ELSEWHERE {
            assert!(is_known(ours) && !is_known(theirs), "{theirs}");
        }
    }
}
