//! The demo, as a reader of the README runs it.

use lambda_idempotency_tests::TestResult;
use loopback::build;
use serde_json::Value;
use tokio::process::Command;

#[tokio::test]
async fn the_demo_ends_well_and_its_numbers_add_up() -> TestResult {
    let binary = build::binary("demo", &[]).await?;
    let output = Command::new(binary).kill_on_drop(true).output().await?;
    let said = String::from_utf8(output.stdout)?;
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));

    let last = said.lines().last().unwrap_or_default();
    let numbers: Value = serde_json::from_str(last)?;
    let number = |name: &str| numbers[name].as_u64().ok_or_else(|| format!("{name} is not in {last}"));
    assert_eq!(number("provider_calls")?, number("executed")? + 1, "the killed call: {last}");
    assert_eq!(number("takeovers")?, 1);
    let answered =
        number("executed")? + number("replayed")? + number("already_in_progress")? + number("mismatch")?;
    assert_eq!(
        number("deliveries")?,
        answered + 1,
        "every delivery but the killed one has an answer: {last}"
    );
    assert!(
        number("replayed")? > 0 && number("already_in_progress")? > 0 && number("mismatch")? > 0,
        "{last}"
    );
    Ok(())
}
