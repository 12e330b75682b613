//! Lines of a bounded length from a child's output. Waiting for one may be abandoned and taken up again without loss.

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// A stream read line by line.
#[derive(Debug)]
pub struct BoundedLines<R> {
    stream: R,
    buffer: Vec<u8>,
    searched: usize,
    limit: usize,
}

impl<R: AsyncRead + Unpin> BoundedLines<R> {
    /// Lines of at most `limit` bytes of `stream`.
    pub fn new(stream: R, limit: usize) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
            searched: 0,
            limit,
        }
    }

    /// The next line without its end; `None` at the end of the stream. A last line without an end is dropped: its writer died.
    ///
    /// # Errors
    /// The stream's, and `InvalidData` for a line above the limit.
    pub async fn next(&mut self) -> io::Result<Option<String>> {
        loop {
            let unsearched = &self.buffer[self.searched..];
            if let Some(found) = unsearched.iter().position(|&byte| byte == b'\n') {
                return Ok(Some(self.take(self.searched + found)));
            }
            self.searched = self.buffer.len();
            if self.buffer.len() > self.limit {
                let message = format!("a line is longer than {} bytes", self.limit);
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            self.buffer.reserve(64 * 1024);
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }

    fn take(&mut self, end: usize) -> String {
        let rest = self.buffer.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.buffer, rest);
        line.pop();
        self.searched = 0;
        String::from_utf8_lossy(&line).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt as _;

    #[tokio::test]
    async fn whole_lines_until_the_end() {
        let (mut writer, reader) = tokio::io::duplex(4);
        let mut lines = BoundedLines::new(reader, 100);
        let write = async {
            writer.write_all(b"first\nsecond\ncut o").await.unwrap();
            drop(writer);
        };
        let read = async {
            let mut all = Vec::new();
            while let Some(line) = lines.next().await.unwrap() {
                all.push(line);
            }
            all
        };
        let (_, all) = tokio::join!(write, read);
        assert_eq!(all, ["first", "second"]);
    }

    #[tokio::test]
    async fn a_line_without_end_is_refused() {
        let endless = tokio::io::repeat(b'x');
        let error = BoundedLines::new(endless, 1000).next().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
