//! Requests as a server decodes them: what is accepted, what is refused, and that no split of the bytes changes either.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use plimsoll_http::decode::{Event, RequestDecoder};
use plimsoll_http::{Limits, ProtocolError};
use proptest::prelude::*;
use std::fmt::Write as _;

/// Decodes `input` cut into pieces of the given sizes (the rest in one) and tells the story as text.
fn story(input: &[u8], cuts: &[usize], limits: Limits) -> String {
    let mut decoder = RequestDecoder::new(limits);
    let mut out = String::new();
    let mut body = Vec::new();
    let (mut start, mut end) = (0, 0);
    let mut cuts = cuts.iter();
    loop {
        let step = match decoder.decode(&input[start..end]) {
            Ok(step) => step,
            Err(error) => {
                if !body.is_empty() {
                    writeln!(out, "data {}", String::from_utf8_lossy(&body)).unwrap();
                }
                writeln!(out, "{} {error}", error.status()).unwrap();
                return out;
            }
        };
        match step.event {
            Event::NeedMore if end == input.len() => {
                if !body.is_empty() {
                    writeln!(out, "data {}", String::from_utf8_lossy(&body)).unwrap();
                }
                return out;
            }
            Event::NeedMore => {
                let more = cuts.next().map_or(usize::MAX, |cut| cut + 1);
                start += step.consumed;
                end = end.saturating_add(more).min(input.len());
                continue;
            }
            Event::Head => {
                let head = decoder.head();
                let (keep, host) = (head.keep_alive(), head.authority());
                write!(
                    out,
                    "{} {} {host} {:?}",
                    head.method(),
                    head.path(),
                    head.framing()
                )
                .unwrap();
                writeln!(out, "{}", if keep { "" } else { " close" }).unwrap();
            }
            Event::Data(range) => body.extend_from_slice(&input[start..end][range]),
            Event::End => {
                if !body.is_empty() {
                    writeln!(out, "data {}", String::from_utf8_lossy(&body)).unwrap();
                    body.clear();
                }
                for (name, value) in decoder.trailers().iter() {
                    writeln!(out, "trailer {name}={}", String::from_utf8_lossy(value)).unwrap();
                }
            }
            Event::Interim => unreachable!("requests have no interim heads"),
        }
        start += step.consumed;
    }
}

fn check(input: &str, expected: &str) {
    let actual = story(input.as_bytes(), &[], Limits::default());
    assert_eq!(actual.trim_end(), expected, "{input:?}");
    let one_by_one = vec![0; input.len()];
    assert_eq!(
        story(input.as_bytes(), &one_by_one, Limits::default()),
        actual,
        "byte by byte: {input:?}"
    );
}

#[test]
fn accepted() {
    check("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / a None");
    check("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / a None");
    check(
        "GET /x?y=1 HTTP/1.1\r\nHost: a:80\r\n\r\n",
        "GET /x a:80 None",
    );
    check(
        "GET http://b/x HTTP/1.1\r\nhost: b\r\n\r\n",
        "GET /x b None",
    );
    check("GET http://b HTTP/1.1\r\nhost: b\r\n\r\n", "GET / b None");
    check("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * a None");
    check(
        "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n",
        "CONNECT / a:443 None",
    );
    check(
        "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n",
        "GET / [::1]:8080 None",
    );
    check("GET / HTTP/1.0\r\n\r\n", "GET /  None close");
    check(
        "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
        "GET /  None",
    );
    check(
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: x\r\nConnection: y, Close\r\n\r\n",
        "GET / a None close",
    );
    check(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
        "POST / a Length(3)\ndata abc",
    );
    check(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        "POST / a Length(0)",
    );
    check(
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
        "POST / a Chunked\ndata abc0123456789\ntrailer X=y",
    );
    check(
        "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nxGET /3 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /1 a None\nPOST /2 a Length(1)\ndata x\nGET /3 a None",
    );
}

/// Whole messages that are refused.
const REFUSED: &[(&str, ProtocolError)] = &[
    ("GET /\r\n\r\n", ProtocolError::RequestLine),
    ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", ProtocolError::Target),
    ("GET / x HTTP/1.1\r\nHost: a\r\n\r\n", ProtocolError::Target),
    (
        "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
        ProtocolError::RequestLine,
    ),
    (
        "GET / http/1.1\r\nHost: a\r\n\r\n",
        ProtocolError::RequestLine,
    ),
    ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", ProtocolError::Version),
    ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", ProtocolError::Method),
    ("GET x HTTP/1.1\r\nHost: a\r\n\r\n", ProtocolError::Target),
    ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", ProtocolError::Target),
    (
        "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        ProtocolError::Target,
    ),
    (
        "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        ProtocolError::Target,
    ),
    ("GET /#f HTTP/1.1\r\nHost: a\r\n\r\n", ProtocolError::Target),
    (
        "GET /\u{e9} HTTP/1.1\r\nHost: a\r\n\r\n",
        ProtocolError::Target,
    ),
    (
        "CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n",
        ProtocolError::Target,
    ),
    ("GET / HTTP/1.1\nHost: a\n\n", ProtocolError::BareLineFeed),
    (
        "GET / HTTP/1.1\r\nHost: a\n\r\n",
        ProtocolError::BareLineFeed,
    ),
    (
        "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        ProtocolError::RequestLine,
    ),
    ("GET / HTTP/1.1\r\n\r\n", ProtocolError::Host),
    ("GET / HTTP/1.1\r\nHost:\r\n\r\n", ProtocolError::Host),
    (
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        ProtocolError::Host,
    ),
    ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", ProtocolError::Host),
    ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", ProtocolError::Host),
    ("GET / HTTP/1.1\r\nHost: a:b\r\n\r\n", ProtocolError::Host),
    (
        "GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n",
        ProtocolError::Host,
    ),
    (
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        ProtocolError::TransferEncoding,
    ),
];

/// Fields for which an otherwise good request is refused.
const REFUSED_FIELDS: &[(&str, ProtocolError)] = &[
    ("X : y", ProtocolError::FieldName),
    (": y", ProtocolError::FieldName),
    ("X y", ProtocolError::FieldName),
    ("X: y\r\n z", ProtocolError::Folded),
    ("X: a\0b", ProtocolError::FieldValue),
    ("X: a\x7fb", ProtocolError::FieldValue),
    ("X\0: \0", ProtocolError::FieldName),
    ("X: a\rb", ProtocolError::BareCarriageReturn),
    (
        "Content-Length: 3\r\nTransfer-Encoding: chunked",
        ProtocolError::AmbiguousLength,
    ),
    (
        "Content-Length: 1\r\nContent-Length: 2",
        ProtocolError::ContentLength,
    ),
    (
        "Content-Length: 1\r\nContent-Length: 1",
        ProtocolError::ContentLength,
    ),
    ("Content-Length: +1", ProtocolError::ContentLength),
    ("Content-Length: 1, 1", ProtocolError::ContentLength),
    ("Content-Length: 0x1", ProtocolError::ContentLength),
    (
        "Content-Length: 9999999999999999999",
        ProtocolError::ContentLength,
    ),
    ("Content-Length:", ProtocolError::ContentLength),
    ("Content-Length: 99999999999", ProtocolError::BodyTooLarge),
    (
        "Transfer-Encoding: gzip, chunked",
        ProtocolError::TransferEncoding,
    ),
    (
        "Transfer-Encoding: identity",
        ProtocolError::TransferEncoding,
    ),
    (
        "Transfer-Encoding: xchunked",
        ProtocolError::TransferEncoding,
    ),
    (
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        ProtocolError::TransferEncoding,
    ),
    ("Expect: 200-maybe", ProtocolError::Expectation),
];

#[test]
fn refused() {
    for (input, error) in REFUSED {
        check(input, &format!("{} {error}", error.status()));
    }
    for (fields, error) in REFUSED_FIELDS {
        let input = format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n0\r\n\r\n");
        check(&input, &format!("{} {error}", error.status()));
    }
}

/// Nobody waits for the end of a line that cannot become valid: a peer could hold the connection with it for as long as it may
/// take for a head.
#[test]
fn a_bare_carriage_return_is_refused_before_its_line_ends() {
    let error = ProtocolError::BareCarriageReturn;
    let cases = [
        "GET /\r ",
        "\r\r",
        "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r2",
        "GET / HTTP/1.1\r\nHost: a\r\n\rX",
    ];
    for input in cases {
        check(input, &format!("{} {error}", error.status()));
    }
    let undecided = "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r";
    check(undecided, "");
}

#[test]
fn refused_chunks() {
    let cases = [
        ("x\r\n", ProtocolError::ChunkSize),
        ("\r\n", ProtocolError::ChunkSize),
        ("0x1\r\na\r\n", ProtocolError::ChunkSize),
        ("-1\r\n", ProtocolError::ChunkSize),
        ("1 \r\na\r\n", ProtocolError::ChunkSize),
        ("1 x\r\na\r\n", ProtocolError::ChunkSize),
        ("1;\0\r\na\r\n", ProtocolError::ChunkSize),
        ("1;a\rb\r\na\r\n", ProtocolError::BareCarriageReturn),
        ("1\ra", ProtocolError::BareCarriageReturn),
        ("0\r\nX: 1\r2", ProtocolError::BareCarriageReturn),
        ("1\na\r\n", ProtocolError::BareLineFeed),
        ("1\r\nab\r\n", ProtocolError::ChunkEnd),
        ("1\r\na\n", ProtocolError::ChunkEnd),
        ("FFFFFFFFFFFFFFFF\r\n", ProtocolError::ChunkSize),
        ("FFFFFFFFFFFFFFF\r\n", ProtocolError::BodyTooLarge),
        ("0\r\nContent-Length: 1\r\n\r\n", ProtocolError::Trailer),
        ("0\r\nX : y\r\n\r\n", ProtocolError::FieldName),
        ("0\r\nX: a\0b\r\n\r\n", ProtocolError::FieldValue),
    ];
    for (body, error) in cases {
        let input =
            format!("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
        let actual = story(input.as_bytes(), &[], Limits::default());
        assert!(
            actual.ends_with(&format!("{} {error}\n", error.status())),
            "{body:?}: {actual}"
        );
        assert_eq!(
            story(input.as_bytes(), &vec![0; input.len()], Limits::default()),
            actual,
            "{body:?}"
        );
    }
}

#[test]
fn limits_hold_at_their_edge() {
    let limits = Limits {
        head_bytes: 64,
        fields: 2,
        target_bytes: 8,
        body_bytes: 4,
        trailer_bytes: 16,
    };
    let check = |input: String, expected: &str| {
        for cuts in [vec![], vec![0; input.len()]] {
            assert_eq!(
                story(input.as_bytes(), &cuts, limits)
                    .lines()
                    .last()
                    .unwrap(),
                expected,
                "{input:?}"
            );
        }
    };
    let padded = |total: usize| {
        let fixed = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n".len();
        format!(
            "GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n",
            "x".repeat(total - fixed)
        )
    };
    check(padded(64), "GET / a None");
    check(padded(65), "431 header section too large");
    let refused = |total: usize| padded(total).replace('x', "\0");
    let error = ProtocolError::FieldValue;
    check(refused(66), &format!("{} {error}", error.status()));
    check(refused(67), "431 header section too large");
    check(
        "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\nY: 2\r\n\r\n".to_owned(),
        "431 header section too large",
    );
    check(
        "GET /1234567 HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(),
        "GET /1234567 a None",
    );
    check(
        "GET /12345678 HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(),
        "414 request target too long",
    );
    check(
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd".to_owned(),
        "data abcd",
    );
    check(
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde".to_owned(),
        "413 body too large",
    );
}

#[test]
fn limits_of_chunked_bodies_hold_at_their_edge() {
    let wide = Limits {
        body_bytes: 4,
        trailer_bytes: 16,
        ..Limits::default()
    };
    let chunked = |body: &str| {
        format!("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{body}")
    };
    let last = |body: &str| {
        story(chunked(body).as_bytes(), &[], wide)
            .lines()
            .last()
            .unwrap()
            .to_owned()
    };
    assert_eq!(last("2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n"), "data abcd");
    assert_eq!(
        last("2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n"),
        "413 body too large"
    );
    assert_eq!(
        last("0\r\nX: 123456789012\r\n\r\n"),
        "431 header section too large"
    );
}

/// Messages made of pieces that are right, almost right and wrong.
fn messages() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "GET / HTTP/1.1\r\n",
        "POST /a?b HTTP/1.1\r\n",
        "Host: a\r\n",
        "Host: a\r\n\r\n",
        "\r\n",
        "\n",
        "Content-Length: 3\r\n",
        "Transfer-Encoding: chunked\r\n\r\n",
        "3\r\nabc\r\n",
        "0\r\n\r\n",
        "0\r\nT: v\r\n\r\n",
        "abc",
        " ",
        "X: y\r\n",
        "\r",
        "5;e=1\r\nhello\r\n",
    ]);
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #[test]
    fn any_split_tells_the_same_story(input in messages(), cuts in prop::collection::vec(0usize..9, 0..40)) {
        prop_assert_eq!(story(&input, &cuts, Limits::default()), story(&input, &[], Limits::default()));
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(input in prop::collection::vec(any::<u8>(), 0..300), cuts in prop::collection::vec(0usize..50, 0..20)) {
        prop_assert_eq!(story(&input, &cuts, Limits::default()), story(&input, &[], Limits::default()));
    }
}
