//! Records on disk that a sink has yet to take: a bounded row of files, written at one end and read at the other, which survives the process.
//!
//! ```text
//! 00000000004294967296.spool   00000000004294967297.spool   …        read        lock
//! magic, frame, frame, …                                              number, offset
//! ```
//!
//! A frame is a length, a checksum (CRC-32) of what follows, and a record as MessagePack. A process that is killed may leave the last frame
//! half written; a file is good up to the first frame that is not, and cut there. How far a file was delivered is noted after every
//! delivery, and before the file goes, so what is delivered twice after a kill is one delivery at most. Nothing is synced: a machine that
//! loses power loses what the system had not written. A file that does not begin as it should is another version's, and left alone.
//!
//! A disk that is full leaves nothing behind of what did not fit: it is cut off, or its file is removed, and where that is impossible, too,
//! the file gets nothing more and its number is not used again.

mod frames;
mod lock;

use crate::entry::Entry;
use frames::{HEAD, MAGIC, framed, frames, good_bytes, is_foreign};
use lock::DirectoryLock;
use plimsoll_base::ignored::Ignored as _;
use std::collections::{BTreeSet, VecDeque};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a file beyond which the next one is begun.
const FILE_BYTES: u64 = 4 * 1024 * 1024;
/// The number of the first file: there is room before it.
const FIRST: u64 = 1 << 32;

/// The files of one sink.
#[derive(Debug)]
pub(crate) struct Spool {
    directory: PathBuf,
    /// Held as long as this lives: two gateways do not share a spool.
    _lock: DirectoryLock,
    /// Bytes that all files may have.
    most: u64,
    /// Oldest first.
    files: VecDeque<Segment>,
    /// Numbers of files that are another version's, and their bytes.
    foreign: (BTreeSet<u64>, u64),
    /// The newest one, open for more.
    open: Option<File>,
    /// How far the oldest has been delivered.
    offset: usize,
    /// Content of the oldest file, while it is being delivered.
    content: Option<Arc<Vec<u8>>>,
    /// Writes all of these bytes; tests have disks that are full.
    write: fn(&mut File, &[u8]) -> io::Result<()>,
}

#[derive(Debug)]
struct Segment {
    number: u64,
    bytes: u64,
    /// Records that were not delivered.
    records: u64,
}

/// Some records of the oldest file.
#[derive(Debug)]
pub(crate) struct Portion {
    content: Arc<Vec<u8>>,
    start: usize,
    end: usize,
    pub(crate) records: u64,
}

/// Findings on opening.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SpoolContents {
    /// Records that are yet to be delivered.
    pub(crate) records: u64,
    /// Bytes that were no whole frame, and were cut off.
    pub(crate) torn: u64,
    /// Files that are another version's.
    pub(crate) foreign: u64,
}

impl Spool {
    /// Opens the spool in `directory`, which is made if it is missing.
    ///
    /// # Errors
    /// The system's; `WouldBlock` when another process has it.
    pub(crate) fn open(directory: &Path, most: u64) -> io::Result<(Self, SpoolContents)> {
        // Records may be detailed.
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)?;
        let lock = DirectoryLock::take(directory)?;
        let mut spool = Self {
            directory: directory.to_owned(),
            _lock: lock,
            most,
            files: VecDeque::new(),
            foreign: (BTreeSet::new(), 0),
            open: None,
            offset: MAGIC.len(),
            content: None,
            write: |file, bytes| file.write_all(bytes),
        };
        let torn = spool.find()?;
        let found = SpoolContents {
            records: spool.records(),
            torn,
            foreign: spool.foreign.0.len() as u64,
        };
        Ok((spool, found))
    }

    /// Records that are yet to be delivered.
    pub(crate) fn records(&self) -> u64 {
        self.files.iter().map(|file| file.records).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Looks at what an earlier process has left; how many bytes of it are no frames.
    fn find(&mut self) -> io::Result<u64> {
        let mut numbers: Vec<u64> = Vec::new();
        for file in fs::read_dir(&self.directory)? {
            let name = file?.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".spool"));
            numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
        }
        numbers.sort_unstable();
        let noted = self.read_note();
        let mut torn = 0;
        for number in numbers {
            let path = self.path(number);
            let content = fs::read(&path)?;
            if is_foreign(&content) {
                self.foreign.0.insert(number);
                self.foreign.1 += content.len() as u64;
                continue;
            }
            let good = good_bytes(&content);
            let start = match noted {
                Some((file, offset)) if file == number => offset.min(good),
                _ => MAGIC.len(),
            };
            torn += (content.len() - good) as u64;
            let records = frames(&content, start, good).count() as u64;
            if records == 0 {
                fs::remove_file(&path)?;
                continue;
            }
            if good < content.len() {
                OpenOptions::new()
                    .write(true)
                    .open(&path)?
                    .set_len(good as u64)?;
            }
            if self.files.is_empty() {
                self.offset = start;
            }
            self.files.push_back(Segment {
                number,
                bytes: good as u64,
                records,
            });
        }
        if noted.is_some_and(|(number, _)| self.files.iter().all(|file| file.number != number)) {
            self.forget_note()?;
        }
        Ok(torn)
    }

    /// Puts records behind all others; how many there was room for. Those after the first that does not fit are left out, too.
    ///
    /// # Errors
    /// The system's; then none of them is there.
    pub(crate) fn append<'a>(
        &mut self,
        entries: impl Iterator<Item = Entry<'a>>,
    ) -> Result<u64, io::Error> {
        let fresh = self.open.is_none() || self.files.back().is_none_or(|f| f.bytes >= FILE_BYTES);
        let beginning = if fresh { MAGIC.len() as u64 } else { 0 };
        let room = self.room().saturating_sub(beginning);
        let (bytes, records) = framed(entries, room);
        if records == 0 {
            return Ok(0);
        }
        if fresh {
            self.begin()?;
        }
        let (Some(open), Some(file)) = (&mut self.open, self.files.back_mut()) else {
            return Ok(0);
        };
        if let Err(error) = (self.write)(open, &bytes) {
            self.take_back();
            return Err(error);
        }
        file.bytes += bytes.len() as u64;
        file.records += records;
        Ok(records)
    }

    /// The newest file ends as it did before the last write, which has failed.
    fn take_back(&mut self) {
        let (Some(open), Some(file)) = (&mut self.open, self.files.back()) else {
            return;
        };
        if file.bytes == MAGIC.len() as u64 {
            let path = self.path(file.number);
            (self.open, _) = (None, self.files.pop_back());
            remove(&path).ignored("it has no whole record, and its number is passed over");
            return;
        }
        if open.set_len(file.bytes).is_err() {
            // What comes after half a record would never be read: it goes to another file, and this one is good up to there.
            self.open = None;
        }
    }

    /// Puts records before all others.
    ///
    /// # Errors
    /// The system's; then none of them is there.
    pub(crate) fn prepend<'a>(
        &mut self,
        entries: impl Iterator<Item = Entry<'a>>,
    ) -> Result<u64, io::Error> {
        let Some(oldest) = self.files.front().map(|file| file.number) else {
            return self.append(entries);
        };
        if self.offset != MAGIC.len() {
            // What is half delivered stays the first.
            return self.append(entries);
        }
        let room = self.room().saturating_sub(MAGIC.len() as u64);
        let (frames, records) = framed(entries, room);
        if records == 0 {
            return Ok(0);
        }
        let mut before = (1..oldest).rev();
        let Some(number) = before.find(|n| !self.foreign.0.contains(n)) else {
            return Ok(0);
        };
        // One that could not be removed would be believed of the new file.
        self.forget_note()?;
        let path = self.path(number);
        let mut file = File::create(&path)?;
        let written =
            (self.write)(&mut file, MAGIC).and_then(|()| (self.write)(&mut file, &frames));
        if let Err(error) = written {
            // None of it is there, so none of it is to be found by the next process.
            file.set_len(0)?;
            remove(&path)?;
            return Err(error);
        }
        (self.content, self.offset) = (None, MAGIC.len());
        self.files.push_front(Segment {
            number,
            bytes: (MAGIC.len() + frames.len()) as u64,
            records,
        });
        Ok(records)
    }

    /// The next records, at most so many and of so many bytes unless one alone has more; `None` if there are none.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn next(&mut self, at_most: usize, bytes: usize) -> io::Result<Option<Portion>> {
        let Some(oldest) = self.files.front() else {
            return Ok(None);
        };
        if self.content.is_none() {
            if self.files.len() == 1 {
                // What comes now goes to another file.
                self.open = None;
            }
            self.content = Some(Arc::new(fs::read(self.path(oldest.number))?));
        }
        let Some(content) = &self.content else {
            return Ok(None);
        };
        let good = content
            .len()
            .min(usize::try_from(oldest.bytes).unwrap_or(usize::MAX));
        let (mut end, mut records) = (self.offset, 0);
        for frame in frames(content, self.offset, good).take(at_most) {
            let next = end + HEAD + frame.len();
            if records > 0 && next - self.offset > bytes {
                break;
            }
            end = next;
            records += 1;
        }
        Ok(Some(Portion {
            content: Arc::clone(content),
            start: self.offset,
            end,
            records,
        }))
    }

    /// These records have been delivered.
    ///
    /// # Errors
    /// The system's, when that could not be noted: they are delivered again after a restart.
    pub(crate) fn delivered(&mut self, portion: &Portion) -> io::Result<()> {
        let Some(oldest) = self.files.front_mut() else {
            return Ok(());
        };
        self.offset = portion.end;
        oldest.records = oldest.records.saturating_sub(portion.records);
        let number = oldest.number;
        // A file that somebody has changed meanwhile may have fewer than it had.
        if oldest.records > 0 && portion.records > 0 {
            return self.note(number, portion.end);
        }
        let length = usize::try_from(oldest.bytes).unwrap_or(usize::MAX);
        self.files.pop_front();
        (self.content, self.offset) = (None, MAGIC.len());
        // Killed after any of these steps, nothing of the file is delivered again.
        self.note(number, length).ignored(
            "a disk that is full takes no note, and has all the more need of the file's end",
        );
        remove(&self.path(number))?;
        self.forget_note()
    }

    fn room(&self) -> u64 {
        let used: u64 = self.files.iter().map(|file| file.bytes).sum();
        self.most.saturating_sub(used + self.foreign.1)
    }

    /// Begins the next file.
    fn begin(&mut self) -> io::Result<()> {
        if self.files.is_empty() {
            // One that could not be removed would be believed of the new file.
            self.forget_note()?;
        }
        let next = self.files.back().map_or(FIRST, |file| file.number + 1);
        let free = (next..).filter(|number| !self.foreign.0.contains(number));
        for number in free {
            let path = self.path(number);
            let mut options = OpenOptions::new();
            let mut file = match options.create_new(true).append(true).open(&path) {
                // One that could neither be filled nor removed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            if let Err(error) = (self.write)(&mut file, MAGIC) {
                remove(&path)?;
                return Err(error);
            }
            self.open = Some(file);
            self.files.push_back(Segment {
                number,
                bytes: MAGIC.len() as u64,
                records: 0,
            });
            return Ok(());
        }
        Err(io::ErrorKind::StorageFull.into())
    }

    fn path(&self, number: u64) -> PathBuf {
        self.directory.join(format!("{number:020}.spool"))
    }

    /// Notes how far a file has been delivered; the note changes as a whole.
    fn note(&self, number: u64, offset: usize) -> io::Result<()> {
        let new = self.directory.join("read.new");
        fs::write(&new, format!("{number} {offset}\n"))?;
        fs::rename(new, self.directory.join("read"))
    }

    fn forget_note(&self) -> io::Result<()> {
        remove(&self.directory.join("read"))
    }

    fn read_note(&self) -> Option<(u64, usize)> {
        let text = fs::read_to_string(self.directory.join("read")).ok()?;
        let (number, offset) = text.trim().split_once(' ')?;
        Some((number.parse().ok()?, offset.parse().ok()?))
    }
}

impl Portion {
    /// The records. One that cannot be read by this version is left out.
    pub(crate) fn entries(&self) -> Vec<Entry<'_>> {
        let frames = frames(&self.content, self.start, self.end);
        frames
            .filter_map(|frame| rmp_serde::from_slice(frame).ok())
            .collect()
    }
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod full_disk;

#[cfg(test)]
mod tests;
