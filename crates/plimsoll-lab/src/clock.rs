//! The lab's two clocks: the run's own time, which orders everything within it, and the wall clock, which dates it.

use std::time::SystemTime;
use tokio::time::Instant;

/// When a run began. Every `t` of its records counts from here.
#[derive(Debug, Clone, Copy)]
pub struct RunClock(Instant);

impl RunClock {
    /// A run that begins now.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Seconds since the run began.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// The wall clock now: RFC 3339 with offset, to the second.
#[must_use]
pub fn wall_clock() -> String {
    let now = jiff::Zoned::now();
    now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// The moment by the wall clock, for dates that others state.
#[must_use]
pub fn now() -> SystemTime {
    jiff::Timestamp::now().into()
}

/// Pending until the deadline; for ever without one.
pub async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
