//! Lines from a pipe without reading ahead of what has arrived, so that waiting is left to `poll`.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// The longest line: a plan may carry the bodies of its requests.
const LINE_BYTES: usize = 64 * 1024 * 1024;

/// A pipe read line by line.
pub(super) struct Lines<F> {
    pipe: F,
    buffer: Vec<u8>,
}

impl<F: AsFd> Lines<F> {
    pub(super) fn new(pipe: F) -> Self {
        Self {
            pipe,
            buffer: Vec::new(),
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
        if self.buffer.len() > LINE_BYTES {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a line is longer than 64 MiB",
            ));
        }
        Ok(count > 0)
    }

    /// The next whole line that has arrived, without its end.
    pub(super) fn take(&mut self) -> Option<String> {
        let end = self.buffer.iter().position(|&byte| byte == b'\n')?;
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
}
