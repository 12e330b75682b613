//! The time of day, for servers; durations come from Tokio's pausable clock, by which things are waited for.

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// Time since 1970, UTC.
#[expect(
    clippy::disallowed_methods,
    reason = "records of requests carry the time of day, and only a shell can know it"
)]
#[must_use]
pub fn since_epoch() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// Ready at this time; never without one.
pub async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Seconds since 1970.
#[must_use]
pub fn unix_seconds() -> u32 {
    u32::try_from(since_epoch().as_secs()).unwrap_or(u32::MAX)
}
