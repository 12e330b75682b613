//! Turns of a shard: ends that fall due for many of its connections at once are taken up a few at a time, clients that come together are accepted
//! a few at a time, and sockets are looked at in between.
//!
//! A thousand clients that came together and are silent since have deadlines that pass together. Ended in one go, they would keep the requests
//! of all others waiting for as long as that takes.

use plimsoll_base::ignored::Ignored as _;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
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
    /// Waits for the runtime to ask the system for events, if a turn's worth was taken up.
    pub async fn turn(&mut self) {
        if self.0 >= AT_A_TIME {
            self.0 = 0;
            task::yield_now().await;
        }
    }

    /// One more was `taken` up, or there is none.
    pub fn count(&mut self, taken: bool) {
        self.0 = if taken { self.0 + 1 } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
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
}
