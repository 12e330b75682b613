//! Turns of a shard: of what comes or falls due for many connections at once a few are taken up at a time, and sockets are looked at in between.
//!
//! A thousand clients that came together and are silent since have deadlines that pass together. Ended in one go, they would keep the requests
//! of all others waiting for as long as that takes.

use plimsoll_base::ignored::Ignored as _;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::{task, time};

/// How many go on in one turn: an end takes some 14 µs (by hand, `docs/calibration.md`, bad clients), and a turn some of its own.
const AT_A_TIME: usize = 4;

/// How long the line may hold up an end, whatever else the shard has to do: more than ten times what a thousand ends take.
const LONGEST: Duration = Duration::from_millis(250);

thread_local! {
    static LINE: Arc<Semaphore> = Arc::new(Semaphore::new(AT_A_TIME));
}

/// A wait for a turn. Boxed, for it is rare, and no connection should carry its memory.
pub type Turn = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Waits in the line of this thread's tasks, in order of arrival, and then for the runtime to ask the system for events.
pub fn comes() -> Turn {
    let line = LINE.with(Arc::clone);
    Box::pin(async {
        let place = time::timeout(LONGEST, line.acquire_owned()).await;
        task::yield_now().await;
        place.ignored("whoever has waited for so long goes on without a place");
    })
}

/// How many things were taken up one after another since the runtime has last asked the system for events.
#[derive(Debug, Default)]
pub struct Batch(usize);

impl Batch {
    /// The next thing, when `poll` has one; first the runtime asks the system for events, if a turn's worth was taken up. Cancelling it loses
    /// none, where `poll` does not.
    pub async fn next<T>(&mut self, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
        if self.0 >= AT_A_TIME {
            self.0 = 0;
            task::yield_now().await;
        }
        poll_fn(|context| {
            let next = poll(context);
            self.0 = if next.is_ready() { self.0 + 1 } else { 0 };
            next
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::pin::pin;
    use std::rc::Rc;
    use tokio::task::{AbortHandle, JoinSet, LocalSet};

    /// How many of so many tasks that want to go on at once did so in each turn of the runtime. Some leave when they are in line, the first of them
    /// from a place.
    fn ends(waiting: usize, leaves: impl Fn(usize) -> bool) -> Vec<usize> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let turns = Rc::new(RefCell::new(vec![0]));
        let all = async {
            let mut tasks = JoinSet::new();
            let mut leaving = Vec::new();
            for index in 0..waiting {
                let turns = Rc::clone(&turns);
                let task = tasks.spawn_local(async move {
                    comes().await;
                    *turns.borrow_mut().last_mut().unwrap() += 1;
                });
                if leaves(index) {
                    leaving.push(task);
                }
            }
            let done = Cell::new(false);
            let count = async {
                while !done.get() {
                    task::yield_now().await;
                    turns.borrow_mut().push(0);
                    if turns.borrow().len() == 4 {
                        leaving.iter().for_each(AbortHandle::abort);
                    }
                }
            };
            let wait = async {
                while tasks.join_next().await.is_some() {}
                done.set(true);
            };
            tokio::join!(count, wait);
        };
        LocalSet::new().block_on(&runtime, all);
        assert_eq!(LINE.with(|line| line.available_permits()), AT_A_TIME);
        turns.take()
    }

    #[test]
    fn a_few_go_on_in_a_turn_and_all_in_the_end() {
        let ends = ends(1_000, |_| false);
        assert_eq!(ends.iter().sum::<usize>(), 1_000);
        let most = ends.iter().max().unwrap();
        assert!(*most <= AT_A_TIME, "{ends:?}");
    }

    #[test]
    fn whoever_leaves_the_line_holds_nobody_up() {
        let ends = ends(1_000, |index| index % 3 == 0);
        assert_eq!(ends.iter().sum::<usize>(), 666);
        let most = ends.iter().max().unwrap();
        assert!(*most <= AT_A_TIME, "{ends:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_ever() {
        let all = LINE.with(Arc::clone).acquire_many_owned(4).await.unwrap();
        let start = time::Instant::now();
        comes().await;
        assert_eq!(start.elapsed(), LONGEST);
        drop(all);
        comes().await;
        assert_eq!(start.elapsed(), LONGEST);
    }

    #[tokio::test]
    async fn things_that_come_together_are_taken_up_a_few_in_a_turn() {
        let (mut batch, left) = (Batch::default(), Cell::new(10));
        let mut turns = vec![0];
        while left.get() > 0 {
            let mut next = pin!(batch.next(|_| Poll::Ready(left.replace(left.get() - 1))));
            let ready = poll_fn(|context| Poll::Ready(next.as_mut().poll(context).is_ready()));
            match ready.await {
                true => *turns.last_mut().unwrap() += 1,
                false => turns.push(0),
            }
        }
        assert_eq!(turns, [4, 4, 2]);
    }

    #[tokio::test]
    async fn whatever_has_to_be_waited_for_begins_a_turn() {
        let mut batch = Batch(3);
        let mut is_there = false;
        let next = batch.next(|context| {
            if is_there {
                return Poll::Ready(());
            }
            is_there = true;
            context.waker().wake_by_ref();
            Poll::Pending
        });
        next.await;
        assert_eq!(batch.0, 1);
    }
}
