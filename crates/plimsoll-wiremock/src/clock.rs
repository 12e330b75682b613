//! The wall clock, for answers that tell the time. Durations are measured with tokio's clock.

use jiff::Timestamp;

/// The time now.
#[expect(
    clippy::disallowed_methods,
    reason = "an async shell: built-in answers and the health route tell the time"
)]
pub fn now() -> Timestamp {
    Timestamp::try_from(std::time::SystemTime::now()).unwrap_or(Timestamp::MAX)
}
