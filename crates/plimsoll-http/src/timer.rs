//! Timers that are exact to some tens of microseconds, where Tokio's count milliseconds: one for a moment, and one that many wait for.

mod delays;

pub use delays::{Delay, DelayTimer};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A one-shot `timerfd` on `CLOCK_MONOTONIC`: its descriptor can be read from when it has fired.
#[derive(Debug)]
pub struct Alarm(OwnedFd);

impl Alarm {
    /// An alarm that is not armed.
    ///
    /// # Errors
    /// When no descriptor is left.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        Ok(Self(timerfd_create(TimerfdClockId::Monotonic, flags)?))
    }

    /// Arms it for a time in nanoseconds of the clock, in place of whatever it was armed for; a time that has passed makes it fire at
    /// once.
    pub fn arm_at(&self, at: u64) {
        self.set(TimerfdTimerFlags::ABSTIME, Duration::from_nanos(at));
    }

    /// Arms it for some time from now, in place of whatever it was armed for.
    pub fn arm_after(&self, wait: Duration) {
        self.set(TimerfdTimerFlags::empty(), wait);
    }

    fn set(&self, flags: TimerfdTimerFlags, value: Duration) {
        // Zero would disarm it.
        let value = value.max(Duration::from_nanos(1));
        let once = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: Timespec {
                tv_sec: i64::try_from(value.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(value.subsec_nanos()),
            },
        };
        timerfd_settime(&self.0, flags, &once)
            .expect("invariant: the descriptor is a timer and the time is valid");
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Alarm {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// An [`Alarm`] that the runtime watches.
#[derive(Debug)]
pub struct Timer(AsyncFd<Alarm>);

impl Timer {
    /// A timer that is not armed; to be made inside its runtime.
    ///
    /// # Errors
    /// When no descriptor is left.
    pub fn new() -> io::Result<Self> {
        #[expect(
            deprecated,
            reason = "its replacement is unsafe because a descriptor might change; one that is owned does not"
        )]
        AsyncFd::with_interest(Alarm::new()?, Interest::READABLE).map(Self)
    }

    /// See [`Alarm::arm_at`].
    pub fn arm_at(&self, at: u64) {
        self.0.get_ref().arm_at(at);
    }

    /// See [`Alarm::arm_after`].
    pub fn arm_after(&self, wait: Duration) {
        self.0.get_ref().arm_after(wait);
    }

    /// Waits until the timer has fired since this was last called. It may return early: read the clock.
    ///
    /// The descriptor is watched edge-triggered and armed anew before every wait, which resets it; so it need not be read, and
    /// a fired timer cannot keep the runtime awake.
    pub async fn fired(&self) {
        let mut guard = self
            .0
            .readable()
            .await
            .expect("invariant: the runtime outlives its tasks");
        guard.clear_ready();
    }
}
