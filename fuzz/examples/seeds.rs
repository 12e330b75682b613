//! Writes the cases of the strictness table as inputs of the fuzz targets, and such as have a form of their own: `seeds DIR` fills `DIR/<target>/`.

#[path = "../../crates/plimsoll/tests/strictness/case.rs"]
#[expect(
    dead_code,
    clippy::unwrap_used,
    reason = "made for tests, which need all of it"
)]
mod case;

use case::{Case, load};
use plimsoll_fuzz::{certificate, http2, tyk};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Longer cases are long in one place, and slow.
const LONGEST: usize = 2000;

fn main() -> io::Result<()> {
    let Some(dir) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return Err(io::Error::other("usage: seeds DIR"));
    };
    for (index, case) in cases("requests").iter().enumerate() {
        let message = &case.message[..];
        write(&dir, "request_head", index, &[message])?;
        // Every shape of pieces, every other time with small limits.
        let shape = u8::try_from(index % 128).unwrap_or_default() * 2;
        write(&dir, "connection", index, &[&[shape], message])?;
        if let Some(body) = chunked_body(message) {
            write(&dir, "chunked_body", index, &[body])?;
        }
    }
    for (index, case) in cases("responses").iter().enumerate() {
        let message = &case.message[..];
        let to_head = case.more.get("method").is_some_and(|name| name == "HEAD");
        let first = if to_head { b"H" } else { b"G" };
        write(&dir, "response_head", index, &[first, message])?;
        let shape = u8::try_from(index % 128).unwrap_or_default() * 2 + 1;
        write(&dir, "connection", 1000 + index, &[&[shape], message])?;
    }
    for (index, input) in http2_requests().iter().enumerate() {
        write(&dir, "http2_request", index, &[input])?;
    }
    for (index, input) in CERTIFICATES.iter().enumerate() {
        write(&dir, "certificate", index, &[input])?;
        write(
            &dir,
            "certificate",
            100 + index,
            &[&certificate::der(input)],
        )?;
    }
    for (index, input) in SHARD_MAPS.iter().enumerate() {
        write(&dir, "shard_map", index, &[input])?;
    }
    write(&dir, "tyk_definition", 100, &[tyk::KEYLESS.as_bytes()])?;
    write(&dir, "tyk_definition", 101, &[tyk::EVERYTHING.as_bytes()])?;
    for (index, input) in DEFINITIONS.iter().enumerate() {
        write(&dir, "tyk_definition", index, &[input])?;
    }
    Ok(())
}

/// Requests with a body, trailers, and what would be something else in HTTP/1.1.
fn http2_requests() -> Vec<Vec<u8>> {
    let with = |method: &'static str, path: &'static str, more: &[(&'static str, &'static str)]| {
        let mut fields = vec![
            (":method", method),
            (":scheme", "http"),
            (":authority", "a.example"),
            (":path", path),
        ];
        fields.extend(more);
        fields
    };
    let bare = |fields: Vec<(&str, &str)>| http2::input(&fields, None, &[]);
    vec![
        bare(with("GET", "/", &[])),
        bare(with(
            "GET",
            "/a%2Fb/%61?q#f",
            &[("x", "y"), ("accept", "*/*")],
        )),
        bare(with("GET", "http://b.example/", &[])),
        bare(with("OPTIONS", "*", &[])),
        bare(with("CONNECT", "/", &[])),
        bare(with("GET", "/", &[("cookie", "a=1"), ("cookie", "b=2")])),
        bare(with(
            "GET",
            "/",
            &[("x", "y\r\nz: 1"), ("x", "y\nz: 1"), ("x", "\0")],
        )),
        bare(with(
            "GET",
            "/",
            &[
                ("x-shard", "eu"),
                ("Client-Cert", ":a:"),
                ("x_forwarded_for", "b"),
            ],
        )),
        bare(with(
            "GET",
            "/",
            &[
                ("host", "a.example"),
                ("expect", "100-continue"),
                ("upgrade", "websocket"),
            ],
        )),
        bare(with(
            "GET / HTTP/1.1\r\nX:",
            "/ HTTP/1.1\r\nY: ",
            &[("x y", "z"), ("x:y", "z"), ("", "z")],
        )),
        http2::input(
            &with("POST", "/", &[("te", "trailers")]),
            Some(&["a", "bc"]),
            &[("grpc-status", "0")],
        ),
        http2::input(
            &with("POST", "/", &[("content-length", "3")]),
            Some(&["abc"]),
            &[],
        ),
        http2::input(
            &with("POST", "/", &[("content-length", "2")]),
            Some(&["0\r\n", "\r\n"]),
            &[],
        ),
        http2::input(
            &with("POST", "/", &[("transfer-encoding", "chunked")]),
            Some(&["0\r\n\r\n"]),
            &[],
        ),
        http2::input(
            &with("PUT", "/", &[("trailer", "t")]),
            Some(&[]),
            &[("content-length", "9"), ("host", "b")],
        ),
    ]
}

/// Instructions: a common name, an organisation, a URI and a host name; two of a kind; other tags; other types.
const CERTIFICATES: [&[u8]; 6] = [
    b"\x00\x00\x00\x03ann\x01\x01\x01\x04Inc.\x02\x00\x00\x02ca\x06\x00\x07urn:x:a\x06\x01\x03A.b",
    b"\x00\x00\x00\x01a\x00\x00\x00\x01b\x06\x00\x03u:a\x06\x00\x03u:b\x06\x01\x01a\x06\x01\x01b",
    b"\x06\x07\x03u:a\x06\x08\x03a.b\x06\x09\x03a.b\x06\x0a\x03u:a",
    b"\x00\x00\x05\x04\xc3\xa9a\xff\x02\x05\x07\x01x\x00\x05\x00\x01x\x03\x02\x00\x01#",
    b"\x04\x00\x00\x03a,b\x02\x01\x00\x03 +\"\x00\x01\x01\x03 +\"",
    b"\x05\xff\x06\x00\x03u:a\x00\x00\x01\x02\xc3\xa9",
];

/// A prefix, what it covers and what it does not, a default, entries that are twice there.
const SHARD_MAPS: [&[u8]; 4] = [
    b"\x03\x00\x02\x00\x02\x09\x00\x03\x00\x02\x01\x05\x00\x03\x00\x02\x00\x05\x00\x02\x01\x02",
    b"\x08\x03\x05\x01\x00\x0b\x85\x02\x00\x01\x05\x05\x02\x00\x00\x05\x85\x03\x00\x01\x00",
    b"\x01\x03\x02\x00\x01\x09\x03\x02\x07\x01\x01\x0f\x05\x07",
    b"\x01\x00\x04\x0a\x0b\x0c\x0f\x03\x00\x02\x08\x02\xf8",
];

/// Changes of sound definitions, field by field of the page.
const DEFINITIONS: [&[u8]; 4] = [
    b"\x80\x05\x00\x01",
    b"\x81\x05\x00\x01\x06\x00\x00",
    b"\x80\x20\x00\x00\x30\x80\x06\x40\x00\x10",
    b"\x81\x90\x00\x05\xa0\x80\x0e\x00\x81\x13",
];

fn cases(role: &str) -> Vec<Case> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/plimsoll/tests/strictness/cases");
    let topics = load(&root.join(role));
    let cases = topics.into_iter().flat_map(|topic| topic.cases);
    cases.filter(|case| case.message.len() <= LONGEST).collect()
}

/// The body behind a head that says `chunked`.
fn chunked_body(message: &[u8]) -> Option<&[u8]> {
    let end = message
        .windows(4)
        .position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&message[..end]).to_ascii_lowercase();
    let body = &message[end + 4..];
    head.contains("transfer-encoding: chunked").then_some(body)
}

fn write(dir: &Path, target: &str, index: usize, parts: &[&[u8]]) -> io::Result<()> {
    let dir = dir.join(target);
    fs::create_dir_all(&dir)?;
    fs::write(dir.join(format!("case-{index}")), parts.concat())
}
