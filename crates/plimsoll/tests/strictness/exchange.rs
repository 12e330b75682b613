//! Sends bytes to a server and tells what came back, without any knowledge of our codec.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// The status with which every server under test answers the canary, and nothing else.
pub const CANARY_STATUS: u16 = 299;
/// Sent behind a case: if the server is in step it answers this, and closes.
pub const CANARY: &str = "GET /canary HTTP/1.1\r\nHost: canary\r\nConnection: close\r\n\r\n";

/// How the bytes are handed to the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    Whole,
    /// One write per byte, for long messages one per 61 bytes.
    Pieces,
}

/// A response as the client sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub body: Vec<u8>,
    /// Whether it ended as its framing says.
    pub complete: bool,
}

/// Sends `bytes` (then closes the sending side, if `cut`), reads until the server closes; `None`: it did not within `patience`.
pub fn send(
    server: SocketAddr,
    bytes: &[u8],
    cut: bool,
    delivery: Delivery,
    patience: Duration,
) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(patience)).unwrap();
    write(&mut stream, bytes, delivery);
    if cut {
        // A server that has closed already is told nothing.
        stream.shutdown(Shutdown::Write).ok();
    }
    let mut received = Vec::new();
    let mut piece = [0; 16 * 1024];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return Some(received),
            Ok(count) => received.extend_from_slice(&piece[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return None;
            }
            // A reset is a close, too.
            Err(_) => return Some(received),
        }
    }
}

/// Writes as much as the peer takes; one that has closed shows in what is read afterwards.
pub fn write(stream: &mut TcpStream, bytes: &[u8], delivery: Delivery) {
    let size = match delivery {
        Delivery::Whole => bytes.len(),
        Delivery::Pieces if bytes.len() > 2048 => 61,
        Delivery::Pieces => 1,
    };
    for piece in bytes.chunks(size.max(1)) {
        if stream.write_all(piece).is_err() {
            return;
        }
    }
}

/// A server's behaviour in words: the statuses, then `open` if the canary was answered, else `close`.
pub fn outcome(received: Option<&[u8]>, to_head: bool) -> String {
    let Some(received) = received else {
        return "hangs".to_owned();
    };
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for response in split(received, to_head) {
        open = response.status == CANARY_STATUS;
        if !open {
            let cut = if response.complete { "" } else { "…" };
            words.push(format!("{}{cut}", response.status));
        }
    }
    words.push(if open { "open" } else { "close" }.to_owned());
    words.join(" ")
}

/// Takes the bytes of a connection apart into responses; `to_head`: the first answers a HEAD request.
pub fn split(mut rest: &[u8], mut to_head: bool) -> Vec<Response> {
    let mut responses = Vec::new();
    while let Some((head, after)) = cut_behind(rest, b"\r\n\r\n") {
        let head = String::from_utf8_lossy(head).into_owned();
        let status = head.get(9..12).and_then(|digits| digits.parse().ok());
        let status = status.unwrap_or(0);
        let bodiless = to_head || status < 200 || matches!(status, 204 | 304);
        let body = if bodiless {
            Some((Vec::new(), after))
        } else if field(&head, "transfer-encoding").is_some() {
            unchunk(after)
        } else if let Some(length) = field(&head, "content-length") {
            let length = length.parse().unwrap();
            after
                .split_at_checked(length)
                .map(|(body, after)| (body.to_vec(), after))
        } else {
            Some((after.to_vec(), &after[after.len()..]))
        };
        to_head &= status < 200;
        let complete = body.is_some();
        let (body, after) = body.unwrap_or_else(|| (after.to_vec(), &[]));
        responses.push(Response {
            status,
            body,
            complete,
        });
        rest = after;
    }
    if !rest.is_empty() {
        // Whatever it is, it is no response.
        responses.push(Response {
            status: 0,
            body: rest.to_vec(),
            complete: false,
        });
    }
    responses
}

fn unchunk(mut rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut body = Vec::new();
    loop {
        let (line, after) = cut_behind(rest, b"\r\n")?;
        let digits = std::str::from_utf8(line).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(digits, 16).ok()?;
        if size == 0 {
            rest = after;
            break;
        }
        body.extend_from_slice(after.get(..size)?);
        rest = after.get(size..)?.strip_prefix(b"\r\n")?;
    }
    loop {
        let (line, after) = cut_behind(rest, b"\r\n")?;
        rest = after;
        if line.len() == 2 {
            return Some((body, rest));
        }
    }
}

/// Cuts behind the first `end`, which stays with the first part.
fn cut_behind<'a>(text: &'a [u8], end: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(end.len()).position(|window| window == end)?;
    Some(text.split_at(at + end.len()))
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (own, value) = line.split_once(':')?;
        own.eq_ignore_ascii_case(name).then_some(value.trim())
    })
}
