//! Where a load balancer looks for the headers of a response.

use serde_json::{Map, Value};

/// Moves the headers of a response to where the load balancer that sent `event` reads them: into
/// `multiValueHeaders` if those of the request came in it, which is a setting of the target group. It "must" be the
/// right member; what is in the other one is lost, if not the whole response.
///
/// <https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html>, "Responses with
/// multi-value headers".
pub(crate) fn for_load_balancer(response: &mut Value, event: &Value) {
    let (Value::Object(response), true) = (response, event["multiValueHeaders"].is_object()) else { return };
    let Some(Value::Object(headers)) = response.remove("headers") else { return };
    let several = response.entry("multiValueHeaders").or_insert_with(|| Value::Object(Map::new()));
    if !several.is_object() {
        *several = Value::Object(Map::new());
    }
    if let Value::Object(several) = several {
        for (name, value) in headers {
            several.entry(name).or_insert_with(|| Value::from(vec![value]));
        }
    }
}
