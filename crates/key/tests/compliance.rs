//! The official JMESPath compliance suite, as it ships with the `jmespath` crate's sources.

use std::path::{Path, PathBuf};

use lambda_idempotency_key::{Expression, canonical};
use serde_json::Value;

/// Where cargo unpacked the crate that carries the suite.
fn suite() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let sources = home.expect("a home directory").join("registry").join("src");
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    let packages = entries(&sources).flat_map(|registry| entries(&registry.path()));
    let suites = packages
        .filter(|package| package.file_name().to_string_lossy().starts_with("jmespath-0.5"))
        .map(|package| package.path().join("tests").join("compliance"))
        .filter(|suite| suite.is_dir());
    suites.max().expect("cargo keeps unpacked sources in its home directory (CARGO_HOME)")
}

#[test]
fn every_case_of_the_official_suite_gives_the_documented_result() {
    let mut failures = Vec::new();
    let mut cases = 0;
    for file in std::fs::read_dir(suite()).expect("the suite is there") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        let groups: Vec<Value> = serde_json::from_str(&text).expect("JSON");
        for group in &groups {
            let given = group["given"].to_string();
            for case in group["cases"].as_array().expect("cases") {
                if case.get("bench").is_some() {
                    continue; // says nothing about results
                }
                cases += 1;
                let text = case["expression"].as_str().expect("an expression");
                let outcome = Expression::parse(text)
                    .map_err(|error| error.to_string())
                    .and_then(|parsed| parsed.select(&given).map_err(|error| error.to_string()));
                let fine = match (&outcome, case.get("error"), case.get("result")) {
                    (Err(_), Some(_), _) => true,
                    (Ok(selection), None, Some(expected)) => {
                        canonical(&expected.to_string()).is_ok_and(|text| text == selection.as_str())
                    }
                    _ => false,
                };
                if !fine {
                    let got = outcome.map(|selection| selection.as_str().to_owned());
                    failures.push(format!(
                        "{}: {text}\n  expected {:?} {:?}\n  got {got:?}",
                        path.file_name().unwrap_or_default().display(),
                        case.get("result").map(Value::to_string),
                        case.get("error"),
                    ));
                }
            }
        }
    }
    assert!(cases > 800, "only {cases} cases found");
    assert!(failures.is_empty(), "{} of {cases}:\n{}", failures.len(), failures.join("\n"));
}

/// After a dot neither `[…]` nor `{…}` goes on within a projection: what follows looks at the list. The suite says
/// nothing of it; the implementations in Python and TypeScript have it so, the one in Rust goes on after `{…}`.
#[test]
fn a_multi_select_ends_a_projection() {
    let json = r#"{"items":[{"id":1,"sku":"a"},{"id":2,"sku":"b"}]}"#;
    for (text, selected) in [
        ("items[*].{id: id, sku: sku}.sku", "null"),
        ("items[].{id: id, sku: sku}.sku", "null"),
        ("items[*].[id, sku].sku", "null"),
        ("items[*].{id: id}[0]", r#"{"id":1}"#),
        ("items[*].[id][0]", "[1]"),
        ("items[*].{id: id}[?id==`2`]", r#"[{"id":2}]"#),
        ("items[0].{id: id}.id", "1"),
        ("{a: items}.a[0].id", "1"),
        ("items[*].{id: id} | [1].id", "2"),
    ] {
        let expression = Expression::parse(text).expect(text);
        assert_eq!(expression.select(json).expect(text).as_str(), selected, "{text}");
    }
}
