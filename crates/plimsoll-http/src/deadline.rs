//! One timer per connection for all of its deadlines, so that a deadline costs nothing while it is kept.
//!
//! Deadlines nearly always move away before they pass. The timer is therefore set anew only when a deadline is earlier than
//! what it is set to, or when it fires and the deadline has moved: a few times per connection instead of per request.

use pin_project_lite::pin_project;
use std::cell::OnceCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// The deadline passed before the future was ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed;

/// A timer that is used again and again.
#[derive(Debug)]
pub struct Watch(Pin<Box<Sleep>>);

impl Watch {
    /// A timer that is first needed at about `first`.
    #[must_use]
    pub fn new(first: Instant) -> Self {
        Self(Box::pin(tokio::time::sleep_until(first)))
    }

    /// Awaits `future` until `deadline()`, which is asked only when `future` has to wait, and anew whenever something has happened.
    /// Resolves to [`Elapsed`] when the deadline passes first.
    pub fn until<D: Fn() -> Instant, F: Future>(
        &mut self,
        deadline: D,
        future: F,
    ) -> Until<'_, D, F> {
        Until {
            timer: self.0.as_mut(),
            deadline,
            future,
        }
    }

    /// Awaits `future` for `limit` from when it first has to wait, so that no clock is read for one that is ready at once.
    pub fn within<F: Future>(
        &mut self,
        limit: Duration,
        future: F,
    ) -> Until<'_, impl Fn() -> Instant + use<F>, F> {
        let since = OnceCell::new();
        self.until(move || *since.get_or_init(Instant::now) + limit, future)
    }
}

pin_project! {
    /// See [`Watch::until`]. A type of its own, because an `async fn` keeps its arguments twice, and futures that hold futures hold
    /// connections' memory.
    #[derive(Debug)]
    pub struct Until<'a, D, F> {
        timer: Pin<&'a mut Sleep>,
        deadline: D,
        #[pin]
        future: F,
    }
}

impl<D: Fn() -> Instant, F: Future> Future for Until<'_, D, F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(output) = this.future.poll(context) {
            return Poll::Ready(Ok(output));
        }
        let deadline = (this.deadline)();
        if this.timer.deadline() > deadline {
            this.timer.as_mut().reset(deadline);
        }
        while this.timer.as_mut().poll(context).is_ready() {
            if this.timer.deadline() >= deadline {
                return Poll::Ready(Err(Elapsed));
            }
            this.timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn deadlines_may_come_nearer_and_move_away() {
        let start = Instant::now();
        let mut watch = Watch::new(start + 60 * SECOND);
        let never = std::future::pending::<()>;
        assert_eq!(watch.until(|| start + SECOND, never()).await, Err(Elapsed));
        assert_eq!(start.elapsed().as_secs(), 1);
        let deadline = start + 30 * SECOND;
        assert_eq!(watch.until(|| deadline, async { 7 }).await, Ok(7));
        assert_eq!(watch.until(|| deadline, never()).await, Err(Elapsed));
        assert_eq!(start.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_begins_with_the_wait() {
        let start = Instant::now();
        let mut watch = Watch::new(start);
        let late = watch.within(SECOND, std::future::pending::<()>());
        tokio::time::sleep(5 * SECOND).await;
        assert_eq!(late.await, Err(Elapsed));
        assert_eq!(start.elapsed().as_secs(), 6);
    }

    #[tokio::test(start_paused = true)]
    async fn progress_extends_a_deadline_under_way() {
        let start = Instant::now();
        let mut watch = Watch::new(start);
        let deadline = Cell::new(start + 2 * SECOND);
        let steps = async {
            for _ in 0..5 {
                tokio::time::sleep(SECOND).await;
                deadline.set(Instant::now() + 2 * SECOND);
            }
            std::future::pending::<()>().await;
        };
        assert_eq!(watch.until(|| deadline.get(), steps).await, Err(Elapsed));
        assert_eq!(start.elapsed().as_secs(), 7);
    }
}
