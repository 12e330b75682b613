//! Fields of HTTP/2 that HTTP/1.1 could take for something else.

use super::*;

/// A field in HPACK, as a literal without indexing.
pub(super) fn literal(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| u8::try_from(text.len()).ok().filter(|n| *n < 127).unwrap();
    [
        &[0, length(name)],
        name.as_bytes(),
        &[length(value)],
        value.as_bytes(),
    ]
    .concat()
}

/// How the gateway takes a request of these fields and, if any, this body: `200`, another status, or that the stream or the connection is broken.
fn taken(gateway: &Gateway, fields: &[(&str, &str)], body: Option<&str>) -> String {
    let block: Vec<u8> = fields
        .iter()
        .flat_map(|(name, value)| literal(name, value))
        .collect();
    let mut sent = opening();
    sent.extend(frame(1, if body.is_some() { 4 } else { 5 }, 1, &block));
    if let Some(body) = body {
        sent.extend(frame(0, 1, 1, body.as_bytes()));
    }
    let mut stream = TcpStream::connect(gateway.address("main")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&sent).unwrap();
    loop {
        let mut head = [0; 9];
        if stream.read_exact(&mut head).is_err() {
            return "closed".to_owned();
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload).unwrap();
        match (head[3], payload.first()) {
            (1, Some(0x88)) => return "200".to_owned(),
            (1, Some(0x8c)) => return "400".to_owned(),
            (1, _) => return format!("answered {payload:x?}"),
            (3, _) => return "reset".to_owned(),
            (7, _) => return "closed".to_owned(),
            _ => {}
        }
    }
}

/// Fields that no request may have, beside those that it must have.
const FIELDS: [(&str, &str); 24] = [
    ("transfer-encoding", "chunked"),
    ("transfer-encoding", "x"),
    ("connection", "close"),
    ("connection", "x-own"),
    ("keep-alive", "timeout=5"),
    ("proxy-connection", "keep-alive"),
    ("upgrade", "websocket"),
    ("te", "gzip"),
    ("host", "b"),
    ("x-own", "a\r\nx-smuggled: 1"),
    ("x-own", "a\nb"),
    ("x-own", "a\rb"),
    ("x-own", "a\0b"),
    ("x-own\r\nx-smuggled", "1"),
    ("x-own: 1", "2"),
    ("x own", "1"),
    ("X-Own", "1"),
    ("", "1"),
    (":status", "200"),
    (":unknown", "x"),
    (":path", "/other"),
    (":method", "POST"),
    ("content-length", "-1"),
    ("content-length", "1, 1"),
];

#[test]
fn what_http1_could_take_for_something_else_is_refused() {
    let gateway =
        before(Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").address);
    let plain = [
        (":method", "GET"),
        (":scheme", "http"),
        (":path", "/"),
        (":authority", "a"),
    ];
    let with = |more: &[(&'static str, &'static str)]| [&plain[..], more].concat();
    assert_eq!(taken(&gateway, &plain, None), "200");
    assert_eq!(taken(&gateway, &plain, Some("body")), "200");
    assert_eq!(
        taken(&gateway, &with(&[("content-length", "4")]), Some("body")),
        "200"
    );
    assert_eq!(taken(&gateway, &with(&[("te", "trailers")]), None), "200");
    let refused = |fields: &[(&str, &str)], body: Option<&str>| {
        let how = taken(&gateway, fields, body);
        assert!(
            ["400", "reset", "closed"].contains(&how.as_str()),
            "{fields:?}: {how}"
        );
    };
    for more in FIELDS {
        refused(&with(&[more]), None);
    }
    refused(&with(&[("content-length", "5")]), Some("body"));
    refused(&with(&[("content-length", "3")]), Some("body"));
    refused(&with(&[("content-length", "4")]), None);
    refused(
        &with(&[("content-length", "4"), ("content-length", "4")]),
        Some("body"),
    );
    refused(&with(&[("x-own", "1"), (":path", "/")]), None);
    let replaced = |name: &str, value: &'static str| {
        plain.map(|(own, old)| {
            if own == name {
                (own, value)
            } else {
                (own, old)
            }
        })
    };
    for path in [
        "",
        "/a b",
        "/ HTTP/1.1\r\nx: y",
        "/a\0",
        "*",
        "a",
        "/\u{e9}",
    ] {
        refused(&replaced(":path", path), None);
    }
    for method in ["", "GE T", "GET / HTTP/1.1\r\n"] {
        refused(&replaced(":method", method), None);
    }
    for authority in ["a b", "a\r\nx: y", "u@a", "a/b", ""] {
        refused(&replaced(":authority", authority), None);
    }
    refused(&replaced(":scheme", "ftp"), None);
    for missing in 0..3 {
        let mut fields = plain.to_vec();
        fields.remove(missing);
        refused(&fields, None);
    }
}
