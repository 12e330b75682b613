//! A lock on a directory, by which two processes do not share it.

use plimsoll_base::ignored::Ignored as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// The lock, held until it is dropped.
#[derive(Debug)]
pub(super) struct DirectoryLock(File);

impl DirectoryLock {
    /// Locks `directory` by a file `lock` in it.
    ///
    /// # Errors
    /// The system's; `WouldBlock` when another process has it.
    pub(super) fn take(directory: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(directory.join("lock"))?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
            TryLockError::Error(error) => error,
        })?;
        Ok(Self(file))
    }
}

impl Drop for DirectoryLock {
    /// Said to the system, because closing the file is not enough: a child that was forked just now has it open as well until it executes.
    fn drop(&mut self) {
        self.0
            .unlock()
            .ignored("the lock ends with the process then");
    }
}
