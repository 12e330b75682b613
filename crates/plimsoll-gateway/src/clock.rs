//! The only place of this crate that reads the calendar; all durations come from Tokio's pausable clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time since 1970, UTC. Read once, when the gateway starts; later times are this plus what has elapsed since.
#[expect(
    clippy::disallowed_methods,
    reason = "records of requests carry the time of day, and only a shell can know it"
)]
pub(crate) fn since_epoch() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}
