//! How many requests of a shard are held back while their clients' data moves to another shard.

use std::cell::Cell;

/// Requests of one shard that may be held at a time; a further one is answered at once.
const HELD: u32 = 1000;

/// How many requests of a shard are held.
#[derive(Debug, Default)]
pub(crate) struct Held(Cell<u32>);

/// A place among them, until it is dropped.
pub(crate) struct HeldSlot<'a>(&'a Cell<u32>);

impl Held {
    /// A place for one more, if there is one.
    pub(crate) fn place(&self) -> Option<HeldSlot<'_>> {
        let held = self.0.get();
        (held < HELD).then(|| {
            self.0.set(held + 1);
            HeldSlot(&self.0)
        })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        self.0.get()
    }
}

impl Drop for HeldSlot<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
