//! A one-shot timer that is exact to some tens of microseconds, where Tokio's counts milliseconds.

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::os::fd::OwnedFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A `timerfd` on `CLOCK_MONOTONIC`, watched by the runtime.
#[derive(Debug)]
pub(super) struct Timer(AsyncFd<OwnedFd>);

impl Timer {
    /// A timer that is not armed.
    ///
    /// # Errors
    /// When no descriptor is left.
    pub(super) fn new() -> io::Result<Self> {
        let fd = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
        )?;
        #[expect(
            deprecated,
            reason = "its replacement is unsafe because a descriptor might change; one that is owned does not"
        )]
        AsyncFd::with_interest(fd, Interest::READABLE).map(Self)
    }

    /// Arms the timer for an absolute time in nanoseconds, in place of whatever it was armed for; a time that has passed
    /// makes it fire at once.
    pub(super) fn arm(&self, at: u64) {
        let value = Timespec {
            tv_sec: i64::try_from(at / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(at % 1_000_000_000).unwrap_or(0),
        };
        let once = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: value,
        };
        timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::ABSTIME, &once)
            .expect("invariant: the descriptor is a timer and the time is valid");
    }

    /// Waits until the timer has fired since this was last called. It may return early: read the clock.
    ///
    /// The descriptor is watched edge-triggered and armed anew before every wait, which resets it; so it need not be read, and
    /// a fired timer cannot keep the runtime awake.
    pub(super) async fn fired(&self) {
        let mut guard = self
            .0
            .readable()
            .await
            .expect("invariant: the runtime outlives its tasks");
        guard.clear_ready();
    }
}
