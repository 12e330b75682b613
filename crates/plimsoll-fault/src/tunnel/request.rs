//! The head of a request that came with an absolute target, as its server gets it (RFC 9112 §3.2.2, RFC 9110 §7.6.1).

use plimsoll_http::hop::{ConnectionOptions, is_hop_by_hop};
use plimsoll_http::{RequestHead, Version, encode};

/// Fields of one hop that pass: a body goes on as it is framed, and `Host` is the server's whatever `Connection` says.
const KEPT: [&str; 3] = ["content-length", "transfer-encoding", "host"];

/// The head in origin form, for a connection that carries no other request. None: its `Connection` names too many fields.
pub fn forwarded(head: &RequestHead) -> Option<Vec<u8>> {
    let options = ConnectionOptions::of(head.fields());
    if options.are_too_many() {
        return None;
    }
    let version = match head.version() {
        Version::Http10 => "1.0",
        Version::Http11 | Version::Http2 => "1.1",
    };
    let (method, target) = (head.method(), target(head));
    let mut out = format!("{method} {target} HTTP/{version}\r\n").into_bytes();
    if head.fields().get("host").is_none() {
        encode::field(&mut out, "Host", head.authority());
    }
    for (name, value) in head.fields().iter() {
        let is_kept = KEPT.iter().any(|kept| kept.eq_ignore_ascii_case(name));
        if is_kept || !is_hop_by_hop(name) && !options.name(name) {
            encode::field(&mut out, name, value);
        }
    }
    match head.fields().get("upgrade") {
        Some(protocols) if options.name("upgrade") => {
            encode::field(&mut out, "Connection", "upgrade");
            encode::field(&mut out, "Upgrade", protocols);
        }
        _ => encode::field(&mut out, "Connection", "close"),
    }
    encode::end_head(&mut out);
    Some(out)
}

fn target(head: &RequestHead) -> String {
    let is_without_path = head.target().ends_with(head.authority());
    match (head.method(), head.query()) {
        ("OPTIONS", None) if is_without_path => "*".to_owned(),
        (_, Some(query)) => format!("{}?{query}", head.path()),
        (_, None) => head.path().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forward(head: &str) -> Option<String> {
        let version = match head.contains("HTTP/1.0") {
            true => Version::Http10,
            false => Version::Http11,
        };
        let head = RequestHead::from_text(head.as_bytes(), version).unwrap();
        Some(String::from_utf8(forwarded(&head)?).unwrap())
    }

    #[test]
    fn targets_are_those_of_the_server() {
        for (line, expected) in [
            ("GET http://a/b/c?d=/e HTTP/1.1", "GET /b/c?d=/e HTTP/1.1"),
            ("GET http://a HTTP/1.1", "GET / HTTP/1.1"),
            ("GET http://a?b HTTP/1.1", "GET /?b HTTP/1.1"),
            ("OPTIONS http://a HTTP/1.1", "OPTIONS * HTTP/1.1"),
            ("OPTIONS http://a/ HTTP/1.1", "OPTIONS / HTTP/1.1"),
        ] {
            let expected = format!("{expected}\r\nHost: a\r\nConnection: close\r\n\r\n");
            let head = format!("{line}\r\nHost: a\r\n\r\n");
            assert_eq!(forward(&head), Some(expected), "{line}");
        }
        let old = forward("GET http://a/ HTTP/1.0\r\n\r\n");
        let expected = "GET / HTTP/1.0\r\nHost: a\r\nConnection: close\r\n\r\n";
        assert_eq!(old.as_deref(), Some(expected));
    }

    #[test]
    fn fields_of_one_hop_stay_here() {
        let head = forward(
            "POST http://a/ HTTP/1.1\r\nHost: a\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic x\r\n\
             Connection: keep-alive, X-Own, Host\r\nX-Own: 1\r\nX-Other: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        let expected = "POST / HTTP/1.1\r\nHost: a\r\nX-Other: 2\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
        assert_eq!(head.as_deref(), Some(expected));
    }

    #[test]
    fn an_upgrade_is_asked_for() {
        let head = forward(
            "GET http://a/ HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        );
        let expected =
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
        assert_eq!(head.as_deref(), Some(expected));
    }

    #[test]
    fn too_many_options_are_refused() {
        let options = vec!["a"; 40].join(", ");
        let head = format!("GET http://a/ HTTP/1.1\r\nHost: a\r\nConnection: {options}\r\n\r\n");
        assert_eq!(forward(&head), None);
    }
}
