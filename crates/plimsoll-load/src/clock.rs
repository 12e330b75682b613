//! The crate's only clock: `CLOCK_MONOTONIC`, in whole nanoseconds since the start of the load.

use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::time::Duration;

/// Nanoseconds since the start of the load.
pub(crate) type Nanos = u64;

/// Reads the time since the start of the load. All shards share one origin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    origin: u64,
}

impl Clock {
    /// A clock whose zero lies `lead` ahead.
    pub(crate) fn starting_in(lead: Duration) -> Self {
        Self {
            origin: monotonic() + nanos(lead),
        }
    }

    /// The time; 0 until the start.
    pub(crate) fn now(self) -> Nanos {
        monotonic().saturating_sub(self.origin)
    }

    /// Whether the load has started.
    pub(crate) fn has_started(self) -> bool {
        monotonic() >= self.origin
    }

    /// Blocks the calling thread until `at`.
    pub(crate) fn sleep_until(self, at: Nanos) {
        let at = self.absolute(at);
        let time = Timespec {
            tv_sec: i64::try_from(at / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(at % 1_000_000_000).unwrap_or(0),
        };
        while clock_nanosleep_absolute(ClockId::Monotonic, &time) == Err(Errno::INTR) {}
    }

    /// A time of this clock as an absolute time of `CLOCK_MONOTONIC`.
    pub(crate) fn absolute(self, at: Nanos) -> u64 {
        self.origin.saturating_add(at)
    }
}

/// A duration in nanoseconds; plans are checked to stay far below the type's 584 years.
pub(crate) fn nanos(duration: Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    u64::try_from(time.tv_sec).expect("invariant: the monotonic clock is not negative")
        * 1_000_000_000
        + u64::try_from(time.tv_nsec).expect("invariant: nanoseconds are not negative")
}
