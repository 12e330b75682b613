//! Where a stub is counted.

use std::sync::atomic::{AtomicU32, Ordering};

/// The row that counts a stub, once it has one. The answers of one stub share it.
#[derive(Debug, Default)]
pub struct StubRow(AtomicU32);

/// Value of a [`StubRow`] before its stub has answered.
const UNKNOWN: u32 = 0;

impl StubRow {
    /// The row, if the stub has one.
    pub fn row(&self) -> Option<u32> {
        match self.0.load(Ordering::Relaxed) {
            UNKNOWN => None,
            known => Some(known - 1),
        }
    }

    /// Gives the stub a row.
    pub fn set(&self, row: u32) {
        self.0.store(row + 1, Ordering::Relaxed);
    }
}
