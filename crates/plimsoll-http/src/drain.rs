//! Shutdown as the connections of one shard see it: whether it has begun, and a wake-up for those that wait.

use pin_project_lite::pin_project;
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
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
            wakes: None,
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
        // Whom it wakes.
        wakes: Option<Waker>,
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
        if this.drain.has_begun() {
            return Poll::Ready(());
        }
        let wakes = this.wakes.as_ref();
        if wakes.is_some_and(|waker| waker.will_wake(context.waker())) {
            return Poll::Pending;
        }
        let polled = this.woken.poll(context);
        if polled.is_pending() {
            *this.wakes = Some(context.waker().clone());
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[tokio::test]
    async fn whoever_waits_is_woken_and_nobody_waits_afterwards() {
        let drain = Drain::default();
        let early = drain.begins();
        let begin = async { drain.begin() };
        tokio::join!(early, begin);
        assert!(drain.has_begun());
        drain.begins().await;
    }

    /// Counts its wake-ups.
    #[derive(Default)]
    struct Waiting(AtomicUsize);

    impl Wake for Waiting {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn whoever_polled_last_is_woken() {
        let drain = Drain::default();
        let mut begins = pin!(drain.begins());
        let waiting: [Arc<Waiting>; 2] = Default::default();
        for one in [&waiting[0], &waiting[0], &waiting[1], &waiting[1]] {
            let waker = Waker::from(Arc::clone(one));
            let polled = begins.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
        }
        drain.begin();
        let woken = waiting.map(|one| one.0.load(Ordering::Relaxed));
        assert_eq!(woken, [0, 1]);
        let polled = begins.poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_ready());
    }
}
