//! The one number that a shard shares with its watchdog: by when it will next be at work.

use crate::clock::Nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The shard has not begun; it is expected by no time.
const NOT_BEGUN: Nanos = Nanos::MAX - 1;
/// The shard has ended.
const ENDED: Nanos = Nanos::MAX;

/// A shard's end of it. Dropping it says that the shard has ended.
#[derive(Debug)]
pub(crate) struct Pulse(Arc<AtomicU64>);

/// The watchdog's end of it.
#[derive(Debug)]
pub(crate) struct Watched(Arc<AtomicU64>);

/// Both ends, for a shard that has not begun.
pub(crate) fn pulse() -> (Pulse, Watched) {
    let number = Arc::new(AtomicU64::new(NOT_BEGUN));
    (Pulse(Arc::clone(&number)), Watched(number))
}

impl Pulse {
    /// The shard will be at work at `at` at the latest; it has just been.
    pub(crate) fn expect(&self, at: Nanos) {
        self.0.store(at, Ordering::Relaxed);
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.expect(ENDED);
    }
}

impl Watched {
    /// By when the shard will be at work.
    pub(crate) fn expected(&self) -> Nanos {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether there will be no more work of it.
    pub(crate) fn has_ended(&self) -> bool {
        self.expected() == ENDED
    }
}
