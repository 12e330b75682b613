//! The deadline of an exchange, at next to no cost per exchange.
//!
//! Nearly every exchange ends long before its deadline. So one timer per user is armed once and left alone: when it fires, it is
//! moved to the deadline of whatever is under way then. The timer wheel is touched once per deadline, not once per exchange.

use crate::clock::{Clock, Nanos};
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// One user's deadlines, one after another.
#[derive(Debug)]
pub(super) struct Deadline {
    clock: Clock,
    timer: Pin<Box<Sleep>>,
    /// The time that the timer is armed for.
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

    /// The result of `work`, or `None` when `until` passes first.
    pub(super) fn within<F: Future>(&mut self, until: Nanos, work: F) -> Within<'_, F> {
        if until < self.armed {
            self.arm(until);
        }
        Within {
            deadline: self,
            until,
            work,
        }
    }

    fn arm(&mut self, until: Nanos) {
        let left = until.saturating_sub(self.clock.now());
        self.timer
            .as_mut()
            .reset(Instant::now() + Duration::from_nanos(left));
        self.armed = until;
    }
}

pin_project! {
    /// See [`Deadline::within`]. A type of its own, because an `async fn` keeps its arguments twice, and every user holds one of these.
    pub(super) struct Within<'a, F> {
        deadline: &'a mut Deadline,
        until: Nanos,
        #[pin]
        work: F,
    }
}

impl<F: Future> Future for Within<'_, F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(result) = this.work.poll(context) {
            return Poll::Ready(Some(result));
        }
        while this.deadline.timer.as_mut().poll(context).is_ready() {
            if this.deadline.clock.now() >= *this.until {
                return Poll::Ready(None);
            }
            this.deadline.arm(*this.until);
        }
        Poll::Pending
    }
}
