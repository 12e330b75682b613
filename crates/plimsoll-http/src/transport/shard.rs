//! Shards: one operating-system thread and one single-threaded Tokio runtime each, sharing nothing.

use super::when_woken::WhenWoken;
use std::future::Future;
use std::io;
use tokio::task::JoinError;

/// How many sockets are asked for at a time. Each of them is touched when the system says that it is ready, and again when its task runs: with
/// few in between, the second time it is still in the processor's cache.
const EVENTS_AT_A_TIME: usize = 32;

/// Runs `body(index)` on `count` threads named `name-index`, each in a current-thread runtime and a `LocalSet`, and returns
/// what each returned, in order. Blocks until all have ended.
///
/// # Errors
/// When a thread or a runtime cannot be made. Bodies that were started already are then awaited first, so they should end on
/// their own when a sibling is missing.
///
/// # Panics
/// When a body panics.
pub fn run_shards<T, F, Fut>(count: usize, name: &str, body: F) -> io::Result<Vec<T>>
where
    T: Send,
    F: Fn(usize) -> Fut + Sync,
    Fut: Future<Output = T>,
{
    let body = &body;
    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(count);
        for index in 0..count {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .max_io_events_per_tick(EVENTS_AT_A_TIME)
                .build()?;
            let thread = std::thread::Builder::new()
                .name(format!("{name}-{index}"))
                .spawn_scoped(scope, move || {
                    tokio::task::LocalSet::new().block_on(&runtime, WhenWoken::new(body(index)))
                })?;
            threads.push(thread);
        }
        Ok(threads
            .into_iter()
            .map(|thread| thread.join().expect("a shard panicked"))
            .collect())
    })
}

/// Ends the shard if one of its tasks has panicked, which is a defect; its own errors end a task and nothing else.
///
/// # Panics
/// When the task has.
pub fn propagate_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        std::panic::resume_unwind(error.into_panic());
    }
}
