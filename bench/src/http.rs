//! One request at a time: is a server ready, how many requests has it seen, a connection that is to be held or read slowly. No load is
//! made with it.

use crate::Error;
use plimsoll_testbed::http::Request;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The longest that one may take.
const LIMIT: Duration = Duration::from_secs(5);
/// The longest that a proxy may keep one waiting that has others to serve.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How an answer begins that is meant to come.
const WELL: &[u8; 12] = b"HTTP/1.1 200";

/// Status and body of a GET with these further fields.
pub fn get(
    address: SocketAddr,
    path: &str,
    fields: &[(&str, &str)],
) -> Result<(u16, String), Error> {
    let request = Request {
        fields,
        ..Request::get(path)
    };
    exchange(address, request)
}

/// Status and body of a POST of JSON.
pub fn post(address: SocketAddr, path: &str, json: &str) -> Result<(u16, String), Error> {
    let request = Request {
        method: "POST",
        fields: &[("Content-Type", "application/json")],
        body: json,
        ..Request::get(path)
    };
    exchange(address, request)
}

/// A connection that is kept, on which a GET was sent and the answer has begun well; the rest of it is still to be read. By hand, for a
/// library would read ahead, and have a task and buffers for each of ten thousand connections.
pub fn begin(address: SocketAddr, path: &str) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // In one piece: a second one would wait for the first to be acknowledged, which some proxies put off.
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut begin = [0; WELL.len()];
    stream.read_exact(&mut begin)?;
    if begin == *WELL {
        Ok(stream)
    } else {
        let begin = String::from_utf8_lossy(&begin);
        Err(std::io::Error::other(format!("answered `{begin}`")))
    }
}

/// The body of an answer, once as much of it is there as its head says.
pub fn whole_body(answer: &str) -> Option<&str> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    let length = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length: usize = length.map_or(Some(0), |(_, value)| value.trim().parse().ok())?;
    body.get(..length)
}

fn exchange(address: SocketAddr, request: Request<'_>) -> Result<(u16, String), Error> {
    let answer = request.ask(address, LIMIT);
    let answer = answer.map_err(Error::when(format!("asking {address}")))?;
    Ok((answer.status, answer.body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_whole_when_its_length_is_there() {
        let check = |answer: &str, expected| assert_eq!(whole_body(answer), expected, "{answer}");
        check(
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nabc",
            Some("ab"),
        );
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na", None);
        check("HTTP/1.1 204 No Content\r\n\r\n", Some(""));
        check("HTTP/1.1 200 OK\r\nContent-Le", None);
    }
}
