//! The model provider's API, as far as this worker needs it.

use std::time::Duration;

use serde::Serialize;

use crate::{Order, Receipt};

/// Left for recording the result after the provider has answered.
const RESERVE: Duration = Duration::from_millis(500);

/// Why there is no receipt.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The client could not be made.
    #[error("no HTTP client: {0}")]
    Client(reqwest::Error),
    /// Too little time is left to start a call that is paid for. Nothing was sent.
    #[error("only {} ms are left, too few for a call", .0.as_millis())]
    NoTime(Duration),
    /// The provider refused, failed or did not answer in time.
    #[error("the model provider: {0}")]
    Call(reqwest::Error),
}

/// A client of the model provider.
#[derive(Debug, Clone)]
pub struct Provider {
    http: reqwest::Client,
    runs: String,
}

impl Provider {
    /// A client of the provider at `url`.
    ///
    /// # Errors
    /// [`ProviderError::Client`].
    pub fn new(url: &str) -> Result<Self, ProviderError> {
        // The AWS SDK brings `ring` already; a second crypto library would double the binary's share.
        // A provider that is installed already is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            // Every request that leaves can be billed, also one whose answer is lost: who tries again
            // is decided by the queue, through the record, and by nobody below it.
            .retry(reqwest::retry::never())
            // A connection that died while the environment was frozen would invite a resend.
            .pool_max_idle_per_host(0)
            .build()
            .map_err(ProviderError::Client)?;
        Ok(Self { http, runs: format!("{}/v1/runs", url.trim_end_matches('/')) })
    }

    /// Creates one run, which is paid for, within `time_left`.
    ///
    /// # Errors
    /// [`ProviderError`]; after [`ProviderError::Call`] the run may exist.
    pub async fn create_run(&self, order: &Order, time_left: Duration) -> Result<Receipt, ProviderError> {
        #[derive(Serialize)]
        struct Run<'a> {
            order_id: u64,
            version: u32,
            instruction: &'a str,
        }
        let timeout = time_left.checked_sub(RESERVE).ok_or(ProviderError::NoTime(time_left))?;
        let Order { order_id, version, instruction } = order;
        let run = Run { order_id: *order_id, version: *version, instruction };
        let request = self.http.post(&self.runs).timeout(timeout).json(&run);
        // The address is the operator's affair, not the log's.
        let failed = |error: reqwest::Error| ProviderError::Call(error.without_url());
        let answer = request.send().await.and_then(reqwest::Response::error_for_status).map_err(failed)?;
        answer.json().await.map_err(failed)
    }
}
