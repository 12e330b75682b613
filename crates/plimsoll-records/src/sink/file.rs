//! A file that grows by one line a record. What it does not take is lost.

use crate::entry::Entry;
use crate::form::{self, WriteLine};
use crate::settings::LineForm;
use crate::sink::Failed;
use crate::sink::lines::{Lines, Shortfall};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// The file.
pub(super) struct Sink(Pages<File>);

impl Sink {
    /// The file at `path`, appended to, and made if it is missing.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn open(path: &Path, form: LineForm) -> io::Result<Self> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let lines = Lines::open(path).map_err(named)?;
        Ok(Self(Pages::new(lines, form)))
    }
}

impl super::Sink for Sink {
    fn deliver(&mut self, entries: &[Entry<'_>]) -> Result<(), Failed> {
        self.0.write(entries)
    }
}

/// Records as lines, of whatever takes them.
pub(super) struct Pages<W> {
    lines: Lines<W>,
    write_line: WriteLine,
    /// Lines that are being made, kept for its room.
    text: Vec<u8>,
}

impl<W: Write> Pages<W> {
    pub(super) fn new(lines: Lines<W>, form: LineForm) -> Self {
        Self {
            lines,
            write_line: form::lines(form),
            text: Vec::new(),
        }
    }

    /// Writes records, one a line, as far as they go.
    pub(super) fn write(&mut self, entries: &[Entry<'_>]) -> Result<(), Failed> {
        self.text.clear();
        for entry in entries {
            (self.write_line)(&mut self.text, entry);
        }
        let lost = |shortfall: Shortfall| Failed::Lost {
            records: entries.len() as u64 - shortfall.whole,
            why: shortfall.error.to_string(),
        };
        self.lines.append(&self.text).map_err(lost)
    }
}
