//! Responses as a client reads them, over an in-memory stream that ends where the text ends.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use plimsoll_http::decode::{Event, ResponseDecoder};
use plimsoll_http::{ClientConnection, Limits, ProtocolError, ReadError};
use std::fmt::Write as _;
use tokio::io::AsyncWriteExt as _;

/// Reads one response from `input` and the end of the stream, and tells the story as text.
async fn story(to_head_request: bool, input: &str) -> String {
    let (near, mut far) = tokio::io::duplex(1 << 16);
    far.write_all(input.as_bytes()).await.unwrap();
    drop(far);
    let (read, write) = tokio::io::split(near);
    let mut connection = ClientConnection::new(read, write, Limits::default());
    connection.responses.expect(to_head_request);
    let mut out = String::new();
    let ended = loop {
        if let Err(error) = connection.responses.next_head().await {
            break Err(error);
        }
        let head = connection.responses.head();
        let reason = String::from_utf8_lossy(head.reason());
        write!(out, "{} {reason} {:?}", head.status(), head.framing()).unwrap();
        writeln!(out, "{}", if head.keep_alive() { "" } else { " close" }).unwrap();
        if head.status() < 200 && head.status() != 101 {
            continue;
        }
        break loop {
            match connection.responses.next_data().await {
                Ok(Some(data)) => writeln!(out, "data {}", String::from_utf8_lossy(data)).unwrap(),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
    };
    match ended {
        Ok(()) => out += "end",
        Err(ReadError::Closed) => out += "closed",
        Err(ReadError::Protocol(error)) => write!(out, "{error}").unwrap(),
        Err(ReadError::Io(error)) => write!(out, "{error}").unwrap(),
    }
    out
}

#[tokio::test]
async fn framing_and_ends() {
    let cases = [
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab",
            "200 OK Length(2)\ndata ab\nend",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
            "200 OK Length(3)\ndata ab\nclosed",
        ),
        (
            "HTTP/1.1 200 OK\r\n\r\nab",
            "200 OK UntilClose close\ndata ab\nend",
        ),
        (
            "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
            "200 OK Length(0) close\nend",
        ),
        (
            "HTTP/1.1 204 No Content\r\n\r\n",
            "204 No Content None\nend",
        ),
        (
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
            "304 Not Modified None\nend",
        ),
        (
            "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
            "200  Length(0)\nend",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            "200 OK Chunked\ndata a\nend",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
            "200 OK Chunked\ndata a\nclosed",
        ),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            "100 Continue None\n103 Early Hints None\n200 OK Length(0)\nend",
        ),
        ("", "closed"),
        ("HTTP/1.1 200 OK\r\nCont", "closed"),
        ("HTTP/1.1 20 OK\r\n\r\n", "malformed status line"),
        ("HTTP/1.1 099 OK\r\n\r\n", "malformed status line"),
        ("HTTP/1.1 200 O\0K\r\n\r\n", "malformed status line"),
        ("HTTP/1.1 200 OK\x7f\r\n\r\n", "malformed status line"),
        ("HTTP/3 200 OK\r\n\r\n", "unsupported HTTP version"),
        ("nonsense\r\n\r\n", "malformed status line"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "both Content-Length and Transfer-Encoding",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "invalid Content-Length",
        ),
        (
            "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n",
            "folded header line",
        ),
        (
            "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
            "line not ended by CR LF",
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(story(false, input).await, expected, "{input:?}");
    }
}

#[tokio::test]
async fn fields_of_requests_mean_nothing() {
    let input = "HTTP/1.1 200 OK\r\nHost: a\r\nHost: b\r\nExpect: x\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(story(false, input).await, "200 OK Length(0)\nend");
}

#[tokio::test]
async fn an_answer_to_head_has_no_body() {
    assert_eq!(
        story(true, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").await,
        "200 OK Length(5)\nend".replace("Length(5)", "None")
    );
}

#[test]
fn a_body_until_close_comes_up_to_its_limit_wherever_it_is_cut() {
    let limits = Limits {
        body_bytes: 4,
        ..Limits::default()
    };
    let input = b"HTTP/1.1 200 OK\r\n\r\nabcdef";
    for cut in 0..input.len() {
        let mut decoder = ResponseDecoder::new(limits);
        let mut body = Vec::new();
        let (mut start, mut end) = (0, cut);
        let error = loop {
            match decoder.decode(&input[start..end]) {
                Err(error) => break error,
                Ok(step) => {
                    match step.event {
                        Event::Data(range) => body.extend_from_slice(&input[start..end][range]),
                        Event::NeedMore => end = input.len(),
                        _ => {}
                    }
                    start += step.consumed;
                }
            }
        };
        assert_eq!(
            (&body[..], error),
            (&b"abcd"[..], ProtocolError::BodyTooLarge),
            "at {cut}"
        );
    }
}
