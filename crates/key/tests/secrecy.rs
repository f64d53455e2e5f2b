//! A marker that is in the input appears in no error, debug text or id.

use lambda_idempotency_key::{Comparison, Expression, Fingerprint, Key, Name, RecordId, Secret, canonical};

const MARKER: &str = "CANARY7QX";

#[test]
fn nothing_of_the_input_is_shown() {
    let inputs = [
        format!(r#"{{"a":"{MARKER}","a":"{MARKER}"}}"#),
        format!(r#"{{"a":"{MARKER}"}}"#),
        format!(r#"{{"a":{MARKER}}}"#),
        format!(r#"{{"a":{{"{MARKER}":1,"{MARKER}":2}}}}"#),
        format!(r#"{{"a":["{MARKER}",1]}}"#),
        format!(r#"{{"a":"\u{MARKER}"}}"#),
        MARKER.to_owned(),
        format!(r#"{{"a":1}}{MARKER}"#),
    ];
    let expressions = [
        "@",
        "a",
        "b",
        "[a, b]",
        "length(a)",
        "abs(a)",
        "sum(a)",
        "sort(a)",
        "join(',', a)",
        "keys(a)",
        "powertools_json(a)",
        "powertools_base64(a)",
        "powertools_base64_gzip(a)",
        "header(a, 'x')",
        "max_by(a, &b)",
        "to_number(a)",
        "merge(a)",
    ];
    let secret = Secret::new(MARKER.repeat(2)).unwrap();
    let name = Name::new("n").unwrap();
    let mut shown = vec![format!("{secret:?}")];
    for input in &inputs {
        shown.push(canonical(input).map_or_else(|e| format!("{e} {e:?}"), |_| String::new()));
        for text in expressions {
            let expression = Expression::parse(text).unwrap();
            shown.push(format!("{:?}", expression.select(input)));
            match Key::parse(text).unwrap().of(input) {
                Ok(value) => {
                    let id = RecordId::new(&name, Some(MARKER), &value, Some(&secret));
                    shown.push(format!("{value:?} {id} {id:?}"));
                }
                Err(error) => shown.push(format!("{error} {error:?}")),
            }
            match Fingerprint::parse(text).unwrap().of(input) {
                Ok(validation) => shown.push(format!("{validation:?}")),
                Err(error) => shown.push(format!("{error} {error:?}")),
            }
        }
    }
    for text in shown {
        assert!(!text.contains(MARKER), "{text}");
    }
    let validation = Fingerprint::Whole.of("1").unwrap().unwrap();
    assert_eq!(validation.compare(MARKER), Comparison::NotComparable);
}
