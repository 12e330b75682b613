//! Shutdown as the connections of one shard see it: whether it has begun, and a wake-up for those that wait.

use pin_project_lite::pin_project;
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Shutdown of one shard: begins once and stays.
#[derive(Debug, Default)]
pub struct Drain {
    begun: Cell<bool>,
    wake: Notify,
}

impl Drain {
    /// Begins the drain and wakes all who wait for it.
    pub fn begin(&self) {
        self.begun.set(true);
        self.wake.notify_waiters();
    }

    /// Whether it has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.begun.get()
    }

    /// Completes when the drain begins; at once if it has.
    #[must_use]
    pub fn begins(&self) -> DrainBegins<'_> {
        DrainBegins {
            drain: self,
            woken: self.wake.notified(),
        }
    }
}

pin_project! {
    /// Wait for a drain; see [`Drain::begins`]. It may be polled again after it is ready.
    #[derive(Debug)]
    pub struct DrainBegins<'a> {
        drain: &'a Drain,
        #[pin]
        woken: Notified<'a>,
    }
}

impl DrainBegins<'_> {
    /// Whether the drain has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.drain.has_begun()
    }
}

impl Future for DrainBegins<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        match this.drain.has_begun() {
            true => Poll::Ready(()),
            false => this.woken.poll(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_waits_is_woken_and_nobody_waits_afterwards() {
        let drain = Drain::default();
        let early = drain.begins();
        let begin = async { drain.begin() };
        tokio::join!(early, begin);
        assert!(drain.has_begun());
        drain.begins().await;
    }
}
