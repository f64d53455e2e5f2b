//! The tests, the demo and the worker are built by three package selections, and the long part of
//! each, the AWS SDK and DynamoDB, is the same: built once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use lambda_idempotency_tests::TestResult;

type Features = BTreeMap<String, String>;

/// Each foreign crate (with its version) in the selection's trees, and its features.
fn features(arguments: &[&str]) -> Result<Features, Box<dyn std::error::Error + Send + Sync>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new(cargo)
        .current_dir(root)
        .args(["tree", "--locked", "--no-dedupe", "--prefix", "none"])
        .args(["--format", "{p} {f}"])
        .args(arguments)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let mut features = Features::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        // Our own crates have a path behind the version; they are small.
        if let Some((package, rest)) = line.split_once(" v")
            && !rest.contains("(/")
        {
            let (version, enabled) = rest.split_once(' ').unwrap_or((rest, ""));
            features.insert(format!("{package} {version}"), enabled.to_owned());
        }
    }
    Ok(features)
}

#[test]
fn every_selection_builds_the_foreign_crates_of_the_demo_with_the_same_features() -> TestResult {
    let demo = features(&["--package", "demo", "--package", "orders", "--edges", "normal"])?;
    assert!(demo.keys().any(|package| package.starts_with("aws-sdk-dynamodb ")), "{demo:?}");
    for edges in ["normal", "normal,build,dev"] {
        let workspace = features(&["--workspace", "--edges", edges])?;
        for (package, features) in &demo {
            assert_eq!(workspace.get(package), Some(features), "{package} with edges {edges}");
        }
    }
    Ok(())
}
