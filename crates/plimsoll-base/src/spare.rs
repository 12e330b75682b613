//! Memory that a shard has to spare: taken when a message comes and given back when it is done with, last in, first out.
//!
//! So a connection between two messages holds none, and whoever is served next finds memory that is still in the processor's cache. A
//! shard is a thread: each has its own, and nothing is locked.

use std::cell::RefCell;
use std::thread::LocalKey;

/// Things of one kind that a thread has to spare, up to a limit.
#[derive(Debug)]
pub struct Spare<T> {
    things: RefCell<Vec<T>>,
    most: usize,
}

impl<T> Spare<T> {
    /// Nothing yet, and never more than so many.
    #[must_use]
    pub const fn new(most: usize) -> Self {
        let things = RefCell::new(Vec::new());
        Self { things, most }
    }
}

/// The thing that was given back last, if there is one.
pub fn take<T>(spare: &'static LocalKey<Spare<T>>) -> Option<T> {
    // A thread that ends has nothing to spare any more.
    let taken = spare.try_with(|spare| spare.things.borrow_mut().pop());
    taken.ok().flatten()
}

/// Keeps a thing for whoever needs one next; frees it if there are enough.
pub fn give<T>(spare: &'static LocalKey<Spare<T>>, thing: T) {
    let mut thing = Some(thing);
    let kept = spare.try_with(|spare| {
        let mut things = spare.things.borrow_mut();
        if things.len() < spare.most {
            things.extend(thing.take());
        }
    });
    if kept.is_err() {
        // The thread ends, and its memory with it.
        drop(thing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static NUMBERS: Spare<u8> = const { Spare::new(2) };
    }

    #[test]
    fn the_last_is_taken_first_and_not_more_are_kept_than_may_be() {
        assert_eq!(take(&NUMBERS), None);
        for number in 1..=3 {
            give(&NUMBERS, number);
        }
        let taken: Vec<_> = std::iter::from_fn(|| take(&NUMBERS)).collect();
        assert_eq!(taken, [2, 1]);
    }
}
