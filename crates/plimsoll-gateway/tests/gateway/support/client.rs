//! A scripted client, and messages as it reads them.

use super::*;

/// One end of a connection.
pub struct Client<S = TcpStream> {
    pub stream: S,
    buffer: Vec<u8>,
}

/// A message as it was read.
#[derive(Debug)]
pub struct Message {
    /// With its line ends, and the empty line.
    pub head: String,
    /// Decoded.
    pub body: Vec<u8>,
    /// As they came, for a chunked body.
    pub trailers: String,
}

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        Self::new(TcpStream::connect(address).unwrap())
    }

    pub fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self::over(stream)
    }
}

impl<S: Read + Write> Client<S> {
    pub fn over(stream: S) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
        }
    }

    pub fn send(&mut self, text: &str) {
        // A peer that has gone shows in what is read afterwards.
        let _sent = self.stream.write_all(text.as_bytes());
    }

    /// Sends a request and reads its response.
    pub fn ask(&mut self, request: &str) -> Message {
        self.send(request);
        self.response(request.starts_with("HEAD "))
    }

    /// `GET path` with a Host.
    pub fn get(&mut self, path: &str) -> Message {
        self.get_from("a.example", path)
    }

    /// `GET path` addressed to `host`.
    pub fn get_from(&mut self, host: &str, path: &str) -> Message {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
    }

    /// So many bytes of whatever comes next.
    pub fn bytes(&mut self, count: usize) -> String {
        String::from_utf8(self.read_exact(count).unwrap()).unwrap()
    }

    /// How many bytes have been read and not been asked for.
    pub fn unread(&self) -> usize {
        self.buffer.len()
    }

    /// The next response; the connection must not end before it is complete.
    pub fn response(&mut self, to_head: bool) -> Message {
        self.try_response(to_head).expect("a complete response")
    }

    /// The next response, or `None` if the connection ends or is reset before it is complete.
    pub fn try_response(&mut self, to_head: bool) -> Option<Message> {
        let head = self.read_head()?;
        let status: u16 = head.split(' ').nth(1)?.parse().unwrap();
        let empty = to_head || status < 200 || status == 204 || status == 304;
        self.read_body(head, empty, true)
    }

    /// The next request, or `None` at the end of the connection.
    pub fn request(&mut self) -> Option<Message> {
        let head = self.read_head()?;
        if field(&head, "expect").is_some() {
            self.send("HTTP/1.1 100 Continue\r\n\r\n");
        }
        self.read_body(head, false, false)
    }

    /// Reads a head with its empty line.
    pub fn read_head(&mut self) -> Option<String> {
        self.read_until(b"\r\n\r\n")
    }

    /// Whether the connection ends now, in good order, without another byte.
    pub fn ends_cleanly(&mut self) -> bool {
        self.buffer.is_empty() && matches!(self.stream.read(&mut [0; 1]), Ok(0))
    }

    /// Whether the connection ends without anything more, over TLS also where that has not said so.
    pub fn ends(&mut self) -> bool {
        self.buffer.is_empty()
            && match self.stream.read(&mut [0; 1]) {
                Ok(length) => length == 0,
                Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
            }
    }

    /// Whether the connection is broken by a reset, after whatever still comes.
    pub fn is_reset(&mut self) -> bool {
        loop {
            match self.stream.read(&mut [0; 65536]) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) => return error.kind() == std::io::ErrorKind::ConnectionReset,
            }
        }
    }

    fn read_body(&mut self, head: String, empty: bool, until_close: bool) -> Option<Message> {
        let mut body = Vec::new();
        let mut trailers = String::new();
        if empty {
        } else if field(&head, "transfer-encoding").is_some() {
            loop {
                let size = self.read_until(b"\r\n")?;
                let size = usize::from_str_radix(size.trim(), 16).unwrap();
                if size == 0 {
                    break;
                }
                body.extend(self.read_exact(size)?);
                self.read_exact(2)?;
            }
            loop {
                let line = self.read_until(b"\r\n")?;
                if line == "\r\n" {
                    break;
                }
                trailers += &line;
            }
        } else if let Some(length) = field(&head, "content-length") {
            body = self.read_exact(length.parse().unwrap())?;
        } else if until_close {
            while self.fill()? {}
            body = std::mem::take(&mut self.buffer);
        }
        Some(Message {
            head,
            body,
            trailers,
        })
    }

    fn read_until(&mut self, end: &[u8]) -> Option<String> {
        loop {
            let found = self.buffer.windows(end.len()).position(|w| w == end);
            if let Some(at) = found {
                let text = self.buffer.drain(..at + end.len()).collect();
                return Some(String::from_utf8(text).unwrap());
            }
            if !self.fill()? {
                return None;
            }
        }
    }

    fn read_exact(&mut self, count: usize) -> Option<Vec<u8>> {
        while self.buffer.len() < count {
            if !self.fill()? {
                return None;
            }
        }
        Some(self.buffer.drain(..count).collect())
    }

    /// Reads once: `Some(false)` at the end, `None` if the connection is broken.
    fn fill(&mut self) -> Option<bool> {
        let mut piece = [0; 16384];
        match self.stream.read(&mut piece) {
            Ok(count) => {
                self.buffer.extend_from_slice(&piece[..count]);
                Some(count > 0)
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                panic!(
                    "nothing came for {PATIENCE:?}; so far {:?}",
                    String::from_utf8_lossy(&self.buffer)
                )
            }
            Err(_) => None,
        }
    }
}

impl Message {
    pub fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    pub fn field(&self, name: &str) -> Option<&str> {
        field(&self.head, name)
    }

    pub fn body_text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// Status, and the `error` of a JSON body.
    pub fn refusal(&self) -> String {
        let body = self.body_text();
        let error = body.split('"').nth(3).unwrap_or_default();
        format!("{} {error}", self.status())
    }
}

/// The value of the first field `name` of a head.
pub fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().skip(1).find_map(|line| {
        let (own, value) = line.split_once(':')?;
        own.eq_ignore_ascii_case(name).then_some(value.trim())
    })
}
