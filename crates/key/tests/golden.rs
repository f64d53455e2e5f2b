//! Stored hashes do not move: not with a release, a feature of `serde_json`, a locale or a process.
//!
//! Each file in `tests/golden` is a list of cases. `BLESS_GOLDEN=1` writes the expected values of
//! a new case; a change to an old one means that every stored record becomes unreachable.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::process::Command;

use lambda_idempotency_key::{Fingerprint, Key, Name, RecordId, Secret, canonical};

type Case = BTreeMap<String, String>;

fn files() -> Vec<(PathBuf, Vec<Case>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join("golden");
    let files = std::fs::read_dir(folder).expect("the golden files").flatten();
    let mut files: Vec<_> = files.map(|file| file.path()).collect();
    files.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("readable");
        (path, serde_json::from_str(&text).expect("a list of cases"))
    };
    files.into_iter().map(read).collect()
}

/// What the library makes of a case's `input`, `key` and `fingerprint`.
fn computed(case: &Case) -> Case {
    let given = |name: &str, default: &str| case.get(name).map_or(default, String::as_str).to_owned();
    let input = given("input", "");
    let mut out = Case::new();
    let canonical = canonical(&input).unwrap_or_else(|error| format!("error: {error}"));
    out.insert("canonical".into(), canonical);
    let key = Key::parse(&given("key", "@")).expect("an expression").of(&input);
    let fingerprint = Fingerprint::parse(&given("fingerprint", "@")).expect("an expression");
    let secret = Secret::new("0123456789abcdef").expect("long enough");
    if let Ok(key) = key {
        let name = Name::new("orders.submit").expect("a name");
        out.insert("key_value".into(), key.as_str().to_owned());
        out.insert("id".into(), RecordId::new(&name, None, &key, None).to_string());
        let scoped = RecordId::new(&name, Some("tenant-1"), &key, Some(&secret));
        out.insert("id_with_tenant_and_secret".into(), scoped.to_string());
    }
    if let Ok(Some(validation)) = fingerprint.of(&input) {
        out.insert("validation".into(), validation.as_str().to_owned());
    }
    if let Ok(Some(validation)) = fingerprint.of_with(&input, Some(&secret)) {
        out.insert("validation_with_secret".into(), validation.as_str().to_owned());
    }
    out
}

#[test]
fn hashes_are_the_ones_that_are_written_down() {
    let bless = std::env::var_os("BLESS_GOLDEN").is_some();
    for (path, mut cases) in files() {
        for case in &mut cases {
            let computed = computed(case);
            if bless {
                case.extend(computed);
                continue;
            }
            for (name, value) in &computed {
                assert_eq!(case.get(name), Some(value), "{}: {}: {name}", path.display(), case["input"]);
            }
        }
        if bless {
            let text = serde_json::to_string_pretty(&cases).expect("strings") + "\n";
            std::fs::write(path, text).expect("writable");
        }
    }
}

#[test]
fn hashes_are_the_same_under_every_locale() {
    let executable = std::env::current_exe().expect("this test");
    for locale in ["C", "sv_SE.UTF-8", "tr_TR.UTF-8"] {
        let status = Command::new(&executable)
            .args(["--exact", "hashes_are_the_ones_that_are_written_down"])
            .envs([("LANG", locale), ("LC_ALL", locale)])
            .env_remove("BLESS_GOLDEN")
            .output()
            .expect("runs");
        assert!(status.status.success(), "{locale}");
    }
}

/// Prints the id of an input that was built from a map with a random order.
#[test]
fn print_the_id_of_a_hash_map() {
    if std::env::var_os("PRINT_ID").is_none() {
        return;
    }
    let map: HashMap<String, u32> = (0..20).map(|n| (format!("member-{n}"), n)).collect();
    let json = serde_json::to_string(&map).expect("serialises");
    let key = Key::parse("@").unwrap().of(&json).unwrap();
    println!("id={}", RecordId::new(&Name::new("n").unwrap(), None, &key, None));
}

#[test]
fn a_hash_map_has_one_id_in_fifty_processes() {
    let executable = std::env::current_exe().expect("this test");
    let mut ids: Vec<String> = (0..50)
        .map(|_| {
            let output = Command::new(&executable)
                .args(["--exact", "print_the_id_of_a_hash_map", "--nocapture"])
                .env("PRINT_ID", "1")
                .output()
                .expect("runs");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let start = text.find("id=").expect("an id");
            text[start..].split_whitespace().next().expect("an id").to_owned()
        })
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
}
