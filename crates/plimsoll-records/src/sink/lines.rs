//! A file that grows by whole lines. What a failed write left behind is cut off again; where that is impossible, the next
//! line begins on a new one, so that two lines are never glued.

use crate::output::Output;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;

/// The growing file, or whatever takes its place.
#[derive(Debug)]
pub(crate) struct Lines<W> {
    to: W,
    /// Takes so many bytes off the end.
    cut: fn(&mut W, u64) -> io::Result<()>,
    /// The existing file ends inside a line.
    torn: bool,
}

impl Lines<File> {
    /// Opens `path` for appending, and makes it if it is missing.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let facts = file.metadata()?;
        let torn = facts.is_file() && facts.len() > 0 && last_byte(path)? != b'\n';
        Ok(Self {
            to: file,
            cut: cut_file,
            torn,
        })
    }
}

impl Lines<Output> {
    /// Lines for the operator, of which nothing can be taken back.
    pub(crate) fn of(output: Output) -> Self {
        Self {
            to: output,
            cut: |_, _| Err(ErrorKind::Unsupported.into()),
            torn: false,
        }
    }
}

impl<W: Write> Lines<W> {
    /// Appends `lines`, each of which ends with a line feed.
    ///
    /// # Errors
    /// When not all of them got there; those that did are whole, and the first ones.
    pub(crate) fn append(&mut self, lines: &[u8]) -> Result<(), Shortfall> {
        if self.torn {
            write_most(&mut self.to, b"\n").map_err(|(_, error)| Shortfall { whole: 0, error })?;
            self.torn = false;
        }
        let written = write_most(&mut self.to, lines);
        // Whatever buffers holds lines back that nobody would see.
        let written = written.and_then(|()| self.to.flush().map_err(|error| (lines.len(), error)));
        written.map_err(|(length, error)| Shortfall {
            whole: self.keep_whole(&lines[..length]),
            error,
        })
    }

    /// Takes back what follows the last line of `written`; returns how many lines stay.
    fn keep_whole(&mut self, written: &[u8]) -> u64 {
        let ends = || (0..written.len()).filter(|at| written[*at] == b'\n');
        let rest = written.len() - ends().next_back().map_or(0, |end| end + 1);
        if rest > 0 {
            self.torn = (self.cut)(&mut self.to, rest as u64).is_err();
        }
        ends().count() as u64
    }
}

/// Lines that did not all get there.
#[derive(Debug)]
pub(crate) struct Shortfall {
    /// How many did.
    pub(crate) whole: u64,
    /// Why the others did not.
    pub(crate) error: io::Error,
}

/// Writes until everything is written or nothing more can be; an error comes with how many bytes were written before.
fn write_most(to: &mut impl Write, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
    let mut written = 0;
    while written < bytes.len() {
        match to.write(&bytes[written..]) {
            Ok(0) => return Err((written, ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err((written, error)),
        }
    }
    Ok(())
}

/// From the length that the file has now, for somebody may have emptied it since.
fn cut_file(file: &mut File, bytes: u64) -> io::Result<()> {
    let length = file.metadata()?.len();
    file.set_len(length.saturating_sub(bytes))
}

fn last_byte(path: &Path) -> io::Result<u8> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::End(-1))?;
    let mut byte = [0];
    file.read_exact(&mut byte)?;
    Ok(byte[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with room for so many bytes.
    #[derive(Debug)]
    struct Disk {
        content: Vec<u8>,
        room: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.room - self.content.len());
            if count == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            self.content.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Lines<Disk> {
        fn on_disk(room: usize) -> Self {
            Self {
                to: Disk {
                    content: Vec::new(),
                    room,
                },
                cut: |disk, bytes| {
                    let length = disk.content.len() - usize::try_from(bytes).unwrap();
                    disk.content.truncate(length);
                    Ok(())
                },
                torn: false,
            }
        }
    }

    #[test]
    fn what_does_not_fit_leaves_no_part_of_a_line() {
        let check = |room: usize, cut: bool, whole: Option<u64>, left: &str, then: &str| {
            let mut lines = Lines::on_disk(room);
            if !cut {
                lines.cut = |_, _| Err(ErrorKind::InvalidInput.into());
            }
            let shortfall = lines.append(b"one\ntwo\nthree\n").err();
            assert_eq!(shortfall.map(|short| short.whole), whole, "room {room}");
            assert_eq!(String::from_utf8_lossy(&lines.to.content), left);
            lines.to.room = 100;
            lines.append(b"four\n").unwrap();
            assert_eq!(String::from_utf8_lossy(&lines.to.content), then);
        };
        check(0, true, Some(0), "", "four\n");
        check(3, true, Some(0), "", "four\n");
        check(4, true, Some(1), "one\n", "one\nfour\n");
        check(10, true, Some(2), "one\ntwo\n", "one\ntwo\nfour\n");
        // What cannot be taken back is at least ended.
        check(10, false, Some(2), "one\ntwo\nth", "one\ntwo\nth\nfour\n");
        let all = "one\ntwo\nthree\n";
        check(14, true, None, all, &format!("{all}four\n"));
    }

    #[test]
    fn a_file_that_ends_inside_a_line_goes_on_with_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        let check = |before: &str, after: &str| {
            std::fs::write(&path, before).unwrap();
            Lines::open(&path).unwrap().append(b"new\n").unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
        };
        check("", "new\n");
        check("old\n", "old\nnew\n");
        check("ol", "ol\nnew\n");
    }

    #[test]
    fn a_file_is_cut_from_the_length_it_has_now() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        let mut lines = Lines::open(&path).unwrap();
        lines.append(b"rotated away\n").unwrap();
        std::fs::write(&path, "kept\npart").unwrap();
        (lines.cut)(&mut lines.to, 4).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept\n");
    }
}
