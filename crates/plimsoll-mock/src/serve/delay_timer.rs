//! Waiting for a moment with better than tokio's millisecond: one timer descriptor per shard and a heap of deadlines.
//!
//! How long to wait is decided by `delay`. A wake-up costs about as much as four answers, so deadlines less than
//! [`MINIMUM_GAP`] apart may share one: a delay is never short and late by at most that much (plus the machine's own lateness).

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The shortest time between two wake-ups.
const MINIMUM_GAP: Duration = Duration::from_micros(100);

/// The timer of one shard.
#[derive(Debug)]
pub(crate) struct DelayTimer {
    descriptor: AsyncFd<OwnedFd>,
    queue: RefCell<Queue>,
}

#[derive(Debug)]
struct Queue {
    waiting: BinaryHeap<Waiting>,
    /// When the descriptor will fire, if it is armed.
    armed: Option<Instant>,
    last_wake: Instant,
}

/// One delay under way; the earliest is the greatest.
#[derive(Debug)]
struct Waiting {
    deadline: Instant,
    wake: oneshot::Sender<()>,
}

impl DelayTimer {
    /// A timer; to be made inside the shard's runtime.
    pub(crate) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe for the sake of types that are not I/O safe; an owned descriptor is"
        )]
        let descriptor = AsyncFd::new(descriptor)?;
        Ok(Self {
            descriptor,
            queue: RefCell::new(Queue {
                waiting: BinaryHeap::new(),
                armed: None,
                last_wake: Instant::now(),
            }),
        })
    }

    /// Returns when `deadline` has passed. Needs [`Self::run`] to be running.
    pub(crate) async fn sleep_until(&self, deadline: Instant) -> io::Result<()> {
        self.enqueue(deadline)?
            .await
            .map_err(|_| io::Error::other("the shard's timer has ended"))
    }

    fn enqueue(&self, deadline: Instant) -> io::Result<oneshot::Receiver<()>> {
        let (wake, woken) = oneshot::channel();
        let mut queue = self.queue.borrow_mut();
        queue.waiting.push(Waiting { deadline, wake });
        self.arm(&mut queue)?;
        Ok(woken)
    }

    /// Wakes what is due, for ever.
    pub(crate) async fn run(&self) -> io::Result<()> {
        loop {
            self.descriptor.readable().await?.clear_ready();
            let mut queue = self.queue.borrow_mut();
            queue.release_due(Instant::now());
            self.arm(&mut queue)?;
        }
    }

    /// Sets the descriptor to the earliest deadline unless it fires by then anyway. Setting it also clears an expiry.
    fn arm(&self, queue: &mut Queue) -> io::Result<()> {
        let Some(earliest) = queue.waiting.peek() else {
            return Ok(());
        };
        let at = earliest.deadline.max(queue.last_wake + MINIMUM_GAP);
        if queue.armed.is_some_and(|armed| armed <= at) {
            return Ok(());
        }
        // A value of zero would disarm it.
        let wait = at
            .saturating_duration_since(Instant::now())
            .max(Duration::from_nanos(1));
        let once = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: Timespec::try_from(wait).map_err(io::Error::other)?,
        };
        timerfd_settime(self.descriptor.get_ref(), TimerfdTimerFlags::empty(), &once)?;
        queue.armed = Some(at);
        Ok(())
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
                // It fails for a connection that is gone, which does not wait any more.
                first.wake.send(()).ok();
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
