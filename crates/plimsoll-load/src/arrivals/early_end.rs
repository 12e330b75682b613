//! When arrivals ended, where that was before the plan's end: because the load was stopped, or because no thread has anything left to do.

use crate::clock::Nanos;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// From the request to stop until arrivals end, so that every thread knows when that is before it comes.
const NOTICE: Nanos = 50_000_000;

/// Early ends reported by the threads of a load; each writes once in a run.
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

    /// The load is to be stopped: where arrivals end for all threads, before `latest`.
    pub(crate) fn stop(&self, now: Nanos, latest: Nanos) -> Nanos {
        *self.at.get_or_init(|| latest.min(now + NOTICE))
    }

    /// A thread has carried out all that it had to. The load ends with the last one.
    pub(crate) fn through(&self, now: Nanos) {
        if self.busy.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.at.get_or_init(|| now);
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
        assert_eq!(stopped.stop(20, Nanos::MAX), 20 + NOTICE);
        assert_eq!(stopped.stop(25, Nanos::MAX), 20 + NOTICE);
        assert_eq!(stopped.at(), Some(20 + NOTICE));
        assert_eq!(EarlyEnd::new(1).stop(20, 22), 22);
    }
}
