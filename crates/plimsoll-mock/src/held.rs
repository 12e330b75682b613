//! Room for the bodies that requests make a mock hold in memory: all connections together get so much and no more.

use crate::shard::Shared;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of all bodies that are held at a time.
const MOST: usize = 64 << 20;

/// What one connection holds; it is given back with it.
#[derive(Debug)]
pub(crate) struct Held {
    shared: Arc<Shared>,
    bytes: usize,
}

/// There is no room left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

impl Held {
    /// Nothing is held yet.
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, bytes: 0 }
    }

    /// Takes room for so many bytes more.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Full> {
        take(&self.shared.held, bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Gives everything back.
    pub(crate) fn release(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes > 0 {
            self.shared.held.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release();
    }
}

fn take(held: &AtomicUsize, bytes: usize) -> Result<(), Full> {
    if held.fetch_add(bytes, Ordering::Relaxed) + bytes > MOST {
        held.fetch_sub(bytes, Ordering::Relaxed);
        return Err(Full);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_takes_no_room() {
        let held = AtomicUsize::new(0);
        assert_eq!(take(&held, MOST - 1), Ok(()));
        assert_eq!(take(&held, 2), Err(Full));
        assert_eq!(take(&held, 1), Ok(()));
    }
}
