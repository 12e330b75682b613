//! Many waits by one timer, and a heap of deadlines.
//!
//! A wake-up costs about as much as four answers, so deadlines less than
//! [`MINIMUM_GAP`] apart may share one: a delay is never short and late by at most that much (plus the machine's own lateness).

use super::Timer;
use plimsoll_base::ignored::Ignored as _;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The shortest time between two wake-ups.
const MINIMUM_GAP: Duration = Duration::from_micros(100);
/// With fewer waits nobody looks for those that were given up.
const FEW: usize = 64;

/// The timer of one shard.
#[derive(Debug)]
pub struct DelayTimer {
    timer: Timer,
    queue: RefCell<Queue>,
}

#[derive(Debug)]
struct Queue {
    waiting: BinaryHeap<Waiting>,
    /// When the timer will fire, if it is armed.
    armed: Option<Instant>,
    /// With so many waits those that were given up are looked for: they would stay until their deadlines.
    crowded: usize,
    last_wake: Instant,
}

/// One delay under way; the earliest is the greatest.
#[derive(Debug)]
struct Waiting {
    deadline: Instant,
    wake: oneshot::Sender<()>,
}

/// A wait for a moment; see [`DelayTimer::delay`].
#[derive(Debug)]
pub struct Delay(oneshot::Receiver<()>);

impl Future for Delay {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let woken = Pin::new(&mut self.0).poll(context);
        woken.map_err(|_| io::Error::other("the shard's timer has ended"))
    }
}

impl DelayTimer {
    /// A timer; to be made inside the shard's runtime.
    ///
    /// # Errors
    /// When no descriptor is left.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            timer: Timer::new()?,
            queue: RefCell::new(Queue {
                waiting: BinaryHeap::new(),
                armed: None,
                crowded: FEW,
                last_wake: Instant::now(),
            }),
        })
    }

    /// Returns when `deadline` has passed. Needs [`Self::run`] to be running.
    ///
    /// # Errors
    /// When that has ended.
    pub async fn sleep_until(&self, deadline: Instant) -> io::Result<()> {
        self.delay(deadline).await
    }

    /// Like [`Self::sleep_until`], for who keeps the wait and is polled for other reasons, too.
    pub fn delay(&self, deadline: Instant) -> Delay {
        let (wake, woken) = oneshot::channel();
        let mut queue = self.queue.borrow_mut();
        queue.waiting.push(Waiting { deadline, wake });
        if queue.waiting.len() >= queue.crowded {
            queue.waiting.retain(|waiting| !waiting.wake.is_closed());
            queue.crowded = FEW.max(2 * queue.waiting.len());
        }
        self.arm(&mut queue);
        Delay(woken)
    }

    /// Wakes what is due, for ever.
    pub async fn run(&self) -> Infallible {
        loop {
            self.timer.fired().await;
            let mut queue = self.queue.borrow_mut();
            queue.release_due(Instant::now());
            self.arm(&mut queue);
        }
    }

    /// Arms the timer for the earliest deadline unless it fires by then anyway. Arming it also clears an expiry.
    fn arm(&self, queue: &mut Queue) {
        let Some(earliest) = queue.waiting.peek() else {
            return;
        };
        let at = earliest.deadline.max(queue.last_wake + MINIMUM_GAP);
        if queue.armed.is_some_and(|armed| armed <= at) {
            return;
        }
        self.timer
            .arm_after(at.saturating_duration_since(Instant::now()));
        queue.armed = Some(at);
    }
}

impl Queue {
    fn release_due(&mut self, now: Instant) {
        self.armed = None;
        self.last_wake = now;
        while self
            .waiting
            .peek()
            .is_some_and(|first| first.deadline <= now)
        {
            if let Some(first) = self.waiting.pop() {
                first.wake.send(()).ignored(
                    "it fails for a connection that is gone, which does not wait any more",
                );
            }
        }
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        other.deadline.cmp(&self.deadline)
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[tokio::test(flavor = "current_thread")]
    async fn waits_that_are_given_up_do_not_pile_up() {
        let timer = DelayTimer::new().unwrap();
        let far = Instant::now() + Duration::from_secs(3_600);
        let kept: Vec<Delay> = (0..100).map(|_| timer.delay(far)).collect();
        for _ in 0..10_000 {
            drop(timer.delay(far));
        }
        assert!(timer.queue.borrow().waiting.len() <= 2 * kept.len() + FEW);
    }

    /// Delays of every length end in the order of their deadlines and none ends early.
    #[tokio::test(flavor = "current_thread")]
    async fn delays_end_in_order_and_never_early() {
        let timer = Rc::new(DelayTimer::new().unwrap());
        let ended = Rc::new(RefCell::new(Vec::new()));
        let start = Instant::now();
        let delays = [3_000_u64, 100, 2_000, 0, 101, 2_000];
        let waits = async {
            let local = tokio::task::LocalSet::new();
            let mut tasks = tokio::task::JoinSet::new();
            for micros in delays {
                let (timer, ended) = (Rc::clone(&timer), Rc::clone(&ended));
                let wait = async move {
                    let deadline = start + Duration::from_micros(micros);
                    timer.sleep_until(deadline).await.unwrap();
                    assert!(Instant::now() >= deadline);
                    ended.borrow_mut().push(micros);
                };
                tasks.spawn_local_on(wait, &local);
            }
            local.run_until(tasks.join_all()).await;
        };
        tokio::select! {
            _ = timer.run() => unreachable!("a timer runs for ever"),
            () = waits => {}
        }
        assert_eq!(*ended.borrow(), [0, 100, 101, 2_000, 2_000, 3_000]);
    }
}
