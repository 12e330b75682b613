//! When arrivals ended, where that was before the plan's end: because the load was stopped, or because no thread has anything left to do.

use crate::clock::Nanos;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the threads of a load say of its end; each writes once in a run.
#[derive(Debug)]
pub(crate) struct EarlyEnd {
    at: OnceLock<Nanos>,
    /// Threads that still have something to do, as far as they have said.
    busy: AtomicUsize,
}

impl EarlyEnd {
    /// Of a load of so many threads.
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            at: OnceLock::new(),
            busy: AtomicUsize::new(threads),
        }
    }

    /// The load was stopped.
    pub(crate) fn stopped(&self, now: Nanos) {
        self.at.get_or_init(|| now);
    }

    /// A thread has carried out all that it had to. The load ends with the last one.
    pub(crate) fn through(&self, now: Nanos) {
        if self.busy.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.stopped(now);
        }
    }

    /// Where arrivals ended; `None` as long as they come as planned.
    pub(crate) fn at(&self) -> Option<Nanos> {
        self.at.get().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_goes_on_for_as_long_as_one_of_its_threads() {
        let end = EarlyEnd::new(2);
        end.through(10);
        assert_eq!(end.at(), None);
        end.through(30);
        assert_eq!(end.at(), Some(30));
        let stopped = EarlyEnd::new(2);
        stopped.stopped(20);
        stopped.stopped(25);
        assert_eq!(stopped.at(), Some(20));
    }
}
