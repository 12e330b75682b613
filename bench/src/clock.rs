//! The clock and waiting, in one place.

use std::time::{Duration, Instant};

/// Now.
#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark measures real time; this is where it reads it"
)]
pub fn now() -> Instant {
    Instant::now()
}

/// Waits for a length of time: a window lasts, and other programs are waited for by looking again.
#[expect(
    clippy::disallowed_methods,
    reason = "a window of a given length has no event to wait for"
)]
pub fn pause(length: Duration) {
    std::thread::sleep(length);
}

/// The date and time of day as the name of a file.
pub fn stamp() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H%M%SZ")
        .to_string()
}
