//! A file that grows by whole lines.

use crate::error::LabError;
use plimsoll_base::ignored::Ignored as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;

/// A growing file. What a failed write left behind is cut off again.
#[derive(Debug)]
pub(super) struct Appender {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Appender {
    /// Makes an empty file, which must not exist.
    pub(super) fn create(path: PathBuf) -> Result<Self, LabError> {
        let file = OpenOptions::new().append(true).create_new(true).open(&path);
        let file = file.map_err(LabError::storage("make the file", &path))?;
        Ok(Self {
            path,
            file,
            length: 0,
        })
    }

    /// Adds `lines`, whole or not at all.
    pub(super) fn append(&mut self, lines: &[u8]) -> Result<(), LabError> {
        let written = self.file.write_all(lines);
        if let Err(error) = written {
            return Err(self.take_back(error));
        }
        self.length += lines.len() as u64;
        Ok(())
    }

    /// Waits until what was written is on the disk.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub(super) fn sync(&self) -> Result<(), LabError> {
        let synced = self.file.sync_data();
        synced.map_err(LabError::storage("write to the file", &self.path))
    }

    fn take_back(&self, error: io::Error) -> LabError {
        self.file
            .set_len(self.length)
            .ignored("the error that matters is the write's; a device has no length to restore");
        LabError::storage("write to the file", &self.path)(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_an_error_of_the_environment() {
        let file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let mut full = Appender {
            path: "series.jsonl".into(),
            file,
            length: 0,
        };
        let error = full.append(b"{}\n").unwrap_err();
        insta::assert_snapshot!(error, @"series.jsonl: cannot write to the file: No space left on device (os error 28)");
        assert_eq!(error.kind(), crate::ErrorKind::Environment);
    }
}
