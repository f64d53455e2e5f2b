//! Instants as the record stores them. DynamoDB's TTL wants **seconds**, leases need **milliseconds**;
//! two types keep one from being taken for the other.

use std::time::Duration;

/// Milliseconds since the UNIX epoch.
///
/// Arithmetic saturates: no input, however absurd, overflows or panics.
///
/// ```
/// use lambda_idempotency_core::EpochMillis;
/// use std::time::Duration;
///
/// let now = EpochMillis::new(1_900_000_000_700);
/// assert_eq!(now.floor_seconds().get(), 1_900_000_000);
/// assert_eq!(now.ceil_seconds().get(), 1_900_000_001);
/// assert_eq!(now.plus(Duration::MAX), EpochMillis::MAX);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpochMillis(i64);

impl EpochMillis {
    /// The latest instant that can be expressed.
    pub const MAX: Self = Self(i64::MAX);

    /// An instant from milliseconds since the UNIX epoch.
    pub const fn new(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the UNIX epoch.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// This instant moved ahead, at most to [`EpochMillis::MAX`].
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(whole_millis(by)))
    }

    /// This instant moved back, saturating.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(whole_millis(by)))
    }

    /// The time from this instant until `later`; zero when `later` has passed.
    pub fn until(self, later: Self) -> Duration {
        Duration::from_millis(u64::try_from(later.0.saturating_sub(self.0)).unwrap_or(0))
    }

    /// The second that this instant lies in. What a condition compares an `expiration` with.
    pub const fn floor_seconds(self) -> EpochSeconds {
        EpochSeconds(self.0.div_euclid(1000))
    }

    /// The first whole second that is not before this instant. What an `expiration` is written as.
    pub const fn ceil_seconds(self) -> EpochSeconds {
        let floor = self.0.div_euclid(1000);
        EpochSeconds(if self.0.rem_euclid(1000) == 0 { floor } else { floor + 1 })
    }
}

/// Seconds since the UNIX epoch: the unit of DynamoDB's TTL attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpochSeconds(i64);

impl EpochSeconds {
    /// An instant from whole seconds since the UNIX epoch.
    pub const fn new(seconds: i64) -> Self {
        Self(seconds)
    }

    /// Whole seconds since the UNIX epoch.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The first millisecond of this second.
    pub const fn start(self) -> EpochMillis {
        EpochMillis(self.0.saturating_mul(1000))
    }

    /// The first millisecond after this second: a record counts to the end of its `expiration`.
    pub const fn end(self) -> EpochMillis {
        EpochMillis(self.0.saturating_add(1).saturating_mul(1000))
    }
}

fn whole_millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
