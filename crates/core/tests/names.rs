//! The names of guarded functions, and the Lambda function's name in them.

use std::process::Command;

use lambda_idempotency_core::decide::Deadline;
use lambda_idempotency_core::{Error, Invocation, Key, Settings};

const VARIABLE: &str = "AWS_LAMBDA_FUNCTION_NAME";

/// The name in the record id of a function called `name`.
fn name_in_id(name: &str) -> Result<String, Error> {
    let settings = Settings::new(name, Key::parse("id").expect("a key"))?;
    let identity = settings.identify(&serde_json::json!({"id": 1}), &Invocation::new(Deadline::Unset))?;
    Ok(identity.expect("has a key").id().name().to_owned())
}

fn refusal(name: &str) -> String {
    match name_in_id(name) {
        Err(error @ Error::Config { .. }) => error.to_string(),
        other => panic!("{name}: {other:?}"),
    }
}

/// A process has one Lambda function's name, so this test runs itself once with each.
#[test]
fn the_name_of_the_lambda_function_stands_where_it_is_named() {
    match std::env::var("NAMES_TEST").as_deref() {
        Ok("with") => {
            for (written, name) in [
                ("${AWS_LAMBDA_FUNCTION_NAME}", "shop-prod"),
                ("${AWS_LAMBDA_FUNCTION_NAME}.app.handler", "shop-prod.app.handler"),
                ("a.${AWS_LAMBDA_FUNCTION_NAME}.b", "a.shop-prod.b"),
                ("plain", "plain"),
                ("$5.{x}", "$5.{x}"),
            ] {
                assert_eq!(name_in_id(written).expect(written), name);
            }
        }
        Ok(_) => {
            let told = refusal("${AWS_LAMBDA_FUNCTION_NAME}.app.handler");
            assert!(told.contains("AWS_LAMBDA_FUNCTION_NAME is not set"), "{told}");
            assert_eq!(name_in_id("plain").expect("a name"), "plain");
        }
        Err(_) => {
            for (lambda, case) in [(Some("shop-prod"), "with"), (Some(""), "without"), (None, "without")] {
                let mut child = Command::new(std::env::current_exe().expect("this test"));
                child.env_remove(VARIABLE).envs(lambda.map(|name| (VARIABLE, name))).env("NAMES_TEST", case);
                child.args(["the_name_of_the_lambda_function_stands_where_it_is_named", "--exact"]);
                let output = child.output().expect("it runs");
                let said = String::from_utf8_lossy(&output.stdout);
                assert!(output.status.success() && said.contains("1 passed"), "{said}");
            }
        }
    }
}

#[test]
fn nothing_else_stands_for_anything() {
    for name in ["${STAGE}.submit", "${aws_lambda_function_name}", "a${", "${AWS_LAMBDA_FUNCTION_NAME"] {
        let told = refusal(name);
        assert!(told.contains("${AWS_LAMBDA_FUNCTION_NAME}"), "{told}");
    }
}
