//! Turns of a shard: what falls due in many of its tasks at once is taken up a few at a time, and sockets are looked at in between.
//!
//! A thousand clients that came together and are silent since have deadlines that pass together. Ended in one go, they would keep the requests
//! of all others waiting for as long as that takes.

use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task;

/// How many tasks go on in one turn. Ending a connection takes some twenty microseconds, a turn itself some three.
const AT_A_TIME: usize = 4;

thread_local! {
    static LINE: Arc<Semaphore> = Arc::new(Semaphore::new(AT_A_TIME));
}

/// Waits in the line of this thread's tasks, in order of arrival, and then until its runtime has asked the system for events.
pub async fn comes() {
    let line = LINE.with(Arc::clone);
    let place = line.acquire_owned().await;
    task::yield_now().await;
    drop(place);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;
    use tokio::task::{JoinSet, LocalSet};

    /// Ends of `waiting` tasks that want to go on at once, by the turns of the runtime in which they did.
    fn ends(waiting: usize, abandoned: impl Fn(usize) -> bool) -> Vec<usize> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let turns = Rc::new(RefCell::new(vec![0]));
        let all = async {
            let mut tasks = JoinSet::new();
            for index in 0..waiting {
                let turns = Rc::clone(&turns);
                let task = tasks.spawn_local(async move {
                    comes().await;
                    *turns.borrow_mut().last_mut().unwrap() += 1;
                });
                if abandoned(index) {
                    task.abort();
                }
            }
            let done = Cell::new(false);
            let count = async {
                while !done.get() {
                    task::yield_now().await;
                    turns.borrow_mut().push(0);
                }
            };
            let wait = async {
                while tasks.join_next().await.is_some() {}
                done.set(true);
            };
            tokio::join!(count, wait);
        };
        LocalSet::new().block_on(&runtime, all);
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
    }
}
