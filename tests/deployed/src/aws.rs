//! SQS and Lambda over HTTP, as far as the tests need them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Error;

/// The emulator, and never the cloud.
#[derive(Clone, Debug)]
pub struct Aws {
    endpoint: String,
    http: reqwest::Client,
}

impl Aws {
    /// The one at `AWS_ENDPOINT_URL`, which must be on this machine.
    ///
    /// # Errors
    /// When it is not.
    pub fn from_env() -> Result<Self, Error> {
        let endpoint = std::env::var("AWS_ENDPOINT_URL").unwrap_or_default();
        if !endpoint.starts_with("http://127.0.0.1:") {
            return Err(format!(
                "AWS_ENDPOINT_URL is `{endpoint}`, not an emulator on loopback: run `scripts/test deploy`"
            )
            .into());
        }
        // reqwest wants one, even for plain HTTP.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().timeout(Duration::from_secs(60)).build()?;
        Ok(Self { endpoint, http })
    }

    /// Where it listens.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Calls an action of SQS.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn sqs(&self, action: &str, input: Value) -> Result<Value, Error> {
        let request = self
            .http
            .post(format!("{}/", self.endpoint))
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-target", format!("AmazonSQS.{action}"))
            .header("authorization", authorization("sqs"))
            .body(input.to_string());
        let answer = request.send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        if !status.is_success() {
            return Err(format!("{action}: {status}: {text}").into());
        }
        Ok(if text.is_empty() { json!({}) } else { serde_json::from_str(&text)? })
    }

    /// Invokes a function and waits for its answer.
    ///
    /// # Errors
    /// When it failed, was killed or was not found.
    pub async fn invoke(&self, function: &str, event: &Value) -> Result<Value, Error> {
        let request = self
            .http
            .post(format!("{}/2015-03-31/functions/{function}/invocations", self.endpoint))
            .header("authorization", authorization("lambda"))
            .body(event.to_string());
        let answer = request.send().await?;
        let failed = !answer.status().is_success() || answer.headers().contains_key("x-amz-function-error");
        let text = answer.text().await?;
        if failed { Err(format!("{function}: {text}").into()) } else { Ok(serde_json::from_str(&text)?) }
    }
}

/// A signature that nobody checks, with the service that is meant.
fn authorization(service: &str) -> String {
    let scope = format!("loopback/20300101/us-east-1/{service}/aws4_request");
    format!("AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=none")
}
