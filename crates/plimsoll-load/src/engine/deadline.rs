//! The deadline of an exchange, at next to no cost per exchange.
//!
//! Nearly every exchange ends long before its deadline. So one timer per user is armed once and left alone: when it fires, it is
//! moved to the deadline of whatever is under way then. The timer wheel is touched once per deadline, not once per exchange.

use crate::clock::{Clock, Nanos};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// One user's deadlines, one after another.
#[derive(Debug)]
pub(super) struct Deadline {
    clock: Clock,
    timer: Pin<Box<Sleep>>,
    /// What the timer is armed for.
    armed: Nanos,
}

impl Deadline {
    /// No deadline yet.
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            timer: Box::pin(sleep(Duration::ZERO)),
            armed: 0,
        }
    }

    /// What `work` gives, or `None` when `until` passes first.
    pub(super) async fn within<T>(
        &mut self,
        until: Nanos,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        if until < self.armed {
            self.arm(until);
        }
        let mut work = pin!(work);
        poll_fn(|context| {
            if let Poll::Ready(result) = work.as_mut().poll(context) {
                return Poll::Ready(Some(result));
            }
            while self.timer.as_mut().poll(context).is_ready() {
                if self.clock.now() >= until {
                    return Poll::Ready(None);
                }
                self.arm(until);
            }
            Poll::Pending
        })
        .await
    }

    fn arm(&mut self, until: Nanos) {
        let left = until.saturating_sub(self.clock.now());
        self.timer
            .as_mut()
            .reset(Instant::now() + Duration::from_nanos(left));
        self.armed = until;
    }
}
