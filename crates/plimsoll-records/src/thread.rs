//! A thread whose end is waited for only so long: one that writes to what takes nothing cannot be told to end.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use tokio::time::Instant;

/// The thread.
#[derive(Debug)]
pub(crate) struct Thread<T> {
    handle: JoinHandle<T>,
    /// Loses its sender when the thread ends, however it does.
    ended: Receiver<()>,
}

impl<T: Send + 'static> Thread<T> {
    /// Starts a thread of this name that does `work`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn start(
        name: String,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Self> {
        let (alive, ended): (SyncSender<()>, _) = sync_channel(0);
        let handle = Builder::new().name(name).spawn(move || {
            let _alive = alive;
            work()
        })?;
        Ok(Self { handle, ended })
    }

    /// The thread's result, if it ends by `deadline`; else it goes on until the process ends.
    ///
    /// # Panics
    /// When it panicked.
    pub(crate) fn join(self, deadline: Instant) -> Option<T> {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.ended.recv_timeout(left) {
            Err(RecvTimeoutError::Timeout) => None,
            Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                Some(self.handle.join().expect("a thread of analytics panicked"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn one_that_stands_still_is_left_and_one_that_ends_is_heard() {
        let (go, wait) = sync_channel::<()>(0);
        let stuck = Thread::start("stuck".to_owned(), move || wait.recv().is_err()).unwrap();
        assert_eq!(stuck.join(Instant::now()), None);
        drop(go);
        let done = Thread::start("done".to_owned(), || 7).unwrap();
        assert_eq!(done.join(Instant::now() + Duration::from_secs(20)), Some(7));
    }
}
