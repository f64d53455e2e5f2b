//! How long a record must live so that the latest possible duplicate still meets it.
//!
//! Too short and a late redelivery does the work again; too long is merely storage.

use std::time::Duration;

/// Added to every preset, for clocks and queues that are slower than documented.
pub const SLACK: Duration = Duration::from_secs(3600);

/// SQS standard queue: retention + the most receives × visibility timeout, and [`SLACK`].
///
/// SQS keeps a message 4 days by default and 14 at most, and hides it 30 seconds by default after
/// each receive (AWS documentation, "Amazon SQS message quotas" and "visibility timeout").
///
/// ```
/// use lambda_idempotency_core::expiry;
/// use std::time::Duration;
///
/// let days = |days: u64| Duration::from_secs(days * 24 * 3600);
/// let window = expiry::sqs(days(4), 5, Duration::from_secs(30));
/// assert_eq!(window, Duration::from_secs(345_750) + expiry::SLACK);
/// ```
pub const fn sqs(retention: Duration, max_receive_count: u32, visibility_timeout: Duration) -> Duration {
    retention.saturating_add(visibility_timeout.saturating_mul(max_receive_count)).saturating_add(SLACK)
}

/// An SQS window of [`sqs`] where messages are sent back from the dead-letter queue up to `times` times: each
/// time they can lie there for its retention (14 days at most), and in the queue for its own once more.
///
/// ```
/// use lambda_idempotency_core::expiry;
/// use std::time::Duration;
///
/// let days = |days: u64| Duration::from_secs(days * 24 * 3600);
/// let window = expiry::sqs(days(4), 5, Duration::from_secs(30));
/// let redriven = expiry::with_redrive(window, 1, days(14));
/// assert_eq!(redriven, window + Duration::from_secs(1_555_350));
/// ```
pub const fn with_redrive(sqs_window: Duration, times: u32, dead_letter_retention: Duration) -> Duration {
    let once_more = dead_letter_retention.saturating_add(sqs_window.saturating_sub(SLACK));
    sqs_window.saturating_add(once_more.saturating_mul(times))
}
