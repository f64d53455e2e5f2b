//! The names of guarded functions.

use lambda_idempotency_key::Name;

use crate::{Error, switch};

/// Stands for the name of the Lambda function, which is not known before it is deployed.
const LAMBDA_NAME: &str = "${AWS_LAMBDA_FUNCTION_NAME}";
/// Where the Lambda runtime says it.
const VARIABLE: &str = "AWS_LAMBDA_FUNCTION_NAME";

/// A name as a user wrote it, checked, with the Lambda function's name in its place.
pub(super) fn checked_name(name: &str) -> Result<Name, Error> {
    let refuse = |message: String| Err(Error::Config { message });
    let mut expanded = name.to_owned();
    if name.contains(LAMBDA_NAME) {
        match std::env::var(VARIABLE) {
            Ok(lambda) if !lambda.is_empty() => expanded = name.replace(LAMBDA_NAME, &lambda),
            // Nothing is stored under it.
            _ if switch::disabled()? => expanded = name.replace(LAMBDA_NAME, "(disabled)"),
            _ => {
                return refuse(format!(
                    "the name `{name}` needs the name of the Lambda function, and {VARIABLE} is not set: set it, \
                     as the Lambda runtime does, or write the name out"
                ));
            }
        }
    }
    if expanded.contains("${") {
        return refuse(format!("`{name}` is no name: {LAMBDA_NAME} is all that can stand in one"));
    }
    Name::new(expanded).map_err(|error| Error::Config { message: error.to_string() })
}
