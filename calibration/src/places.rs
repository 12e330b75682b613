//! A pool with so many places: who finds none free waits for one.

use std::sync::{Condvar, Mutex, PoisonError};

/// A pool of places.
pub struct Places {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A place that was taken; free again when it is dropped.
pub struct Place<'a>(&'a Places);

impl Places {
    /// So many places; without a number there is one for everybody.
    pub fn new(number: Option<usize>) -> Self {
        Self {
            free: Mutex::new(number.unwrap_or(usize::MAX)),
            freed: Condvar::new(),
        }
    }

    /// Takes a place, as soon as one is free.
    pub fn take(&self) -> Place<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.freed.wait_while(free, |free| *free == 0);
        *waited.unwrap_or_else(PoisonError::into_inner) -= 1;
        Place(self)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let free = self.0.free.lock();
        *free.unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn who_finds_no_place_has_the_next_that_is_free() {
        let places = Places::new(Some(1));
        let first = places.take();
        let (sender, taken) = channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _second = places.take();
                sender.send(()).unwrap();
            });
            assert!(taken.try_recv().is_err());
            drop(first);
            taken.recv().unwrap();
        });
    }
}
