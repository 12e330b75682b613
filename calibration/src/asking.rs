//! A client that forgives nothing: it asks over one connection, and a connection that breaks off is an error, not a reason to try again.
//! By hand, for the checks that use it count how connections end: over TCP and over TLS, without a task that sees an end before they ask.

use std::io::{self, Read, Write};

/// An answer, whole.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its head, in lower case.
    pub head: String,
    /// Its body, whose length was stated.
    pub body: Vec<u8>,
}

impl Answer {
    /// Whether the connection may be asked again.
    pub fn keeps(&self) -> bool {
        self.field("connection") != Some("close")
    }

    /// A field of the head; its name in lower case.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| {
            let (own, value) = line.split_once(':')?;
            (own == name).then(|| value.trim())
        })
    }
}

/// Asks, and reads the answer whole.
pub fn ask(stream: &mut (impl Read + Write), request: &str) -> io::Result<Answer> {
    stream.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        more(stream, &mut bytes)?;
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|text| text.parse().ok());
    let mut answer = Answer {
        status: status.ok_or(io::ErrorKind::InvalidData)?,
        head,
        body: Vec::new(),
    };
    let length = answer.field("content-length").unwrap_or("0").parse();
    let length: usize = length.map_err(|_| io::ErrorKind::InvalidData)?;
    while bytes.len() < end + length {
        more(stream, &mut bytes)?;
    }
    answer.body = bytes.split_off(end);
    Ok(answer)
}

fn more(stream: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut piece = [0; 4096];
    match stream.read(&mut piece)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        count => {
            bytes.extend_from_slice(&piece[..count]);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// A peer that has answered in advance, and hands out its answer in small pieces.
    struct Scripted(Cursor<Vec<u8>>);

    impl Read for Scripted {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let most = into.len().min(7);
            self.0.read(&mut into[..most])
        }
    }

    impl Write for Scripted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_answer_is_read_whole_or_not_at_all() {
        let check = |text: &str| ask(&mut Scripted(Cursor::new(text.into())), "GET /");
        let answer = check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: b\r\n\r\nok").unwrap();
        assert_eq!((answer.status, answer.body.as_slice()), (200, &b"ok"[..]));
        assert_eq!(answer.field("x-a"), Some("b"));
        assert!(answer.keeps());
        let last = check("HTTP/1.1 503 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        assert!(!last.unwrap().keeps());
        assert!(check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok").is_err());
        assert!(check("HTTP/1.1 200 OK\r\n").is_err());
    }
}
