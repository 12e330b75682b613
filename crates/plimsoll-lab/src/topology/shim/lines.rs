//! Lines from a pipe without reading ahead of what has arrived, so that waiting is left to `poll`.

use super::SPEC_BYTES;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// A pipe read line by line; each byte is looked at once, so that long lines take no more than their time.
pub(super) struct Lines<F> {
    pipe: F,
    buffer: Vec<u8>,
    /// How much of it is known to hold no end of a line.
    searched: usize,
}

impl<F: AsFd> Lines<F> {
    pub(super) fn new(pipe: F) -> Self {
        Self {
            pipe,
            buffer: Vec::new(),
            searched: 0,
        }
    }

    /// Reads once, which may block; false when the other side has closed the pipe.
    pub(super) fn fill(&mut self) -> io::Result<bool> {
        let mut chunk = [0; 64 * 1024];
        let count = loop {
            match rustix::io::read(&self.pipe, &mut chunk) {
                Err(rustix::io::Errno::INTR) => {}
                other => break other?,
            }
        };
        self.buffer.extend_from_slice(&chunk[..count]);
        if self.buffer.len() > SPEC_BYTES {
            // The lab looks at what it sends before it does.
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a line is longer than {SPEC_BYTES} bytes"),
            ));
        }
        Ok(count > 0)
    }

    /// The next whole line that has arrived, without its end.
    pub(super) fn take(&mut self) -> Option<String> {
        let unsearched = &self.buffer[self.searched..];
        let Some(found) = unsearched.iter().position(|&byte| byte == b'\n') else {
            self.searched = self.buffer.len();
            return None;
        };
        let end = self.searched + found;
        self.searched = 0;
        let rest = self.buffer.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.buffer, rest);
        line.pop();
        Some(String::from_utf8_lossy(&line).into_owned())
    }
}

impl<F: AsFd> AsFd for Lines<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn lines_come_whole_whatever_the_writes_were() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut lines = Lines::new(reader);
        writer.write_all(b"on").unwrap();
        assert!(lines.fill().unwrap());
        assert_eq!(lines.take(), None);
        writer.write_all(b"e\ntwo\nthr").unwrap();
        assert!(lines.fill().unwrap());
        assert_eq!(lines.take().as_deref(), Some("one"));
        assert_eq!(lines.take().as_deref(), Some("two"));
        assert_eq!(lines.take(), None);
        drop(writer);
        assert!(!lines.fill().unwrap());
    }

    /// A byte that was looked at once is not looked at again, and an end of a line behind many reads is found.
    #[test]
    fn a_long_line_is_searched_once() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut lines = Lines::new(reader);
        let piece = vec![b'x'; 16 * 1024];
        for round in 1..=20 {
            writer.write_all(&piece).unwrap();
            assert!(lines.fill().unwrap());
            assert_eq!(lines.take(), None);
            assert_eq!(lines.searched, round * piece.len());
        }
        writer.write_all(b"\nnext\n").unwrap();
        assert!(lines.fill().unwrap());
        assert_eq!(lines.take().map(|line| line.len()), Some(20 * piece.len()));
        assert_eq!(lines.take().as_deref(), Some("next"));
    }
}
