//! One timer per connection for all of its deadlines, so that a deadline costs nothing while it is kept.
//!
//! Deadlines nearly always move away before they pass. The timer is therefore set anew only when a deadline is earlier than
//! what it is set to, or when it fires and the deadline has moved: a few times per connection instead of per request.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use tokio::time::{Instant, Sleep};

/// The deadline passed before the future was ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Elapsed;

/// A timer that is used again and again.
#[derive(Debug)]
pub(crate) struct Watch(Pin<Box<Sleep>>);

impl Watch {
    /// A timer that is first needed at about `first`.
    pub(crate) fn new(first: Instant) -> Self {
        Self(Box::pin(tokio::time::sleep_until(first)))
    }

    /// Awaits `future` until `deadline()`, which is asked anew whenever something has happened.
    pub(crate) async fn until<T>(
        &mut self,
        deadline: impl Fn() -> Instant,
        future: impl Future<Output = T>,
    ) -> Result<T, Elapsed> {
        let mut future = pin!(future);
        poll_fn(|cx| {
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(Ok(output));
            }
            let deadline = deadline();
            if self.0.deadline() > deadline {
                self.0.as_mut().reset(deadline);
            }
            while self.0.as_mut().poll(cx).is_ready() {
                if self.0.deadline() >= deadline {
                    return Poll::Ready(Err(Elapsed));
                }
                self.0.as_mut().reset(deadline);
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::time::Duration;

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
