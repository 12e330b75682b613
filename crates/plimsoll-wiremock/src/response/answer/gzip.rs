//! Answers packed with gzip, for clients that accept it, where WireMock 3.13.2 packs them (observed): to the methods below, with a status from
//! 200 to 299 that has a body, unless they have a coding already or are of a kind that is packed in itself. Unlike it, nothing is not packed.

use super::{Answer, END_OF_HEAD};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use plimsoll_http::encode;
use plimsoll_http::fields::{Fields, list};
use std::io::Write as _;
use std::sync::OnceLock;

/// How an answer's body is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// As it is.
    Identity,
    /// Packed with gzip.
    Gzip,
}

/// The methods whose answers are packed.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "DELETE", "PATCH"];

/// Types that are not packed, by how they begin; but [`SVG`] is.
const PACKED_KINDS: [&[u8]; 11] = [
    b"image/",
    b"audio/",
    b"video/",
    b"text/event-stream",
    b"application/compress",
    b"application/zip",
    b"application/gzip",
    b"application/bzip2",
    b"application/brotli",
    b"application/x-xz",
    b"application/x-rar-compressed",
];
const SVG: &[u8] = b"image/svg+xml";

impl Coding {
    /// The best that the sender of a request with these fields accepts.
    pub fn accepted(method: &str, fields: &Fields) -> Self {
        let gzip = list(fields, "Accept-Encoding").any(is_wanted_gzip);
        if gzip && METHODS.contains(&method) {
            Self::Gzip
        } else {
            Self::Identity
        }
    }
}

/// Whether an element of `Accept-Encoding` is gzip, and not with the weight zero.
fn is_wanted_gzip(element: &[u8]) -> bool {
    let mut parts = element.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let is_gzip = parts
        .next()
        .is_some_and(|name| name.eq_ignore_ascii_case(b"gzip"));
    let refused = parts.any(|part| {
        let weight = part
            .strip_prefix(b"q=")
            .or_else(|| part.strip_prefix(b"Q="));
        weight.is_some_and(|weight| weight.iter().all(|byte| matches!(byte, b'0' | b'.')))
    });
    is_gzip && !refused
}

impl Answer {
    /// This answer, packed; `None` if it is none of those that are.
    pub fn packed(&self) -> Option<Self> {
        let body = &self.bytes[self.fields_end + END_OF_HEAD..];
        let is_packable = matches!(self.status, 200..=203 | 206..=299);
        if !is_packable || body.is_empty() || self.letters > 0 {
            return None;
        }
        let mut bytes = Vec::with_capacity(self.fields_end + body.len() / 2);
        for (index, line) in self.bytes[..self.fields_end]
            .split_inclusive(|byte| *byte == b'\n')
            .enumerate()
        {
            let colon = line
                .iter()
                .position(|byte| *byte == b':')
                .filter(|_| index > 0);
            let Some(colon) = colon else {
                bytes.extend_from_slice(line);
                continue;
            };
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
            if is("Content-Encoding") || (is("Content-Type") && is_packed_kind(value)) {
                return None;
            }
            match value.strip_suffix(b"\"") {
                // What another form of the same thing has for a tag is another one.
                Some(tag) if is("ETag") => {
                    bytes.extend_from_slice(&line[..=colon]);
                    bytes.extend_from_slice(b" ");
                    bytes.extend_from_slice(tag);
                    bytes.extend_from_slice(b"--gzip\"\r\n");
                }
                _ if is("Content-Length") => {}
                _ => bytes.extend_from_slice(line),
            }
        }
        let packed = pack(body);
        encode::field(&mut bytes, "Content-Encoding", b"gzip");
        encode::content_length(&mut bytes, packed.len() as u64);
        let fields_end = bytes.len();
        encode::end_head(&mut bytes);
        bytes.extend_from_slice(&packed);
        Some(Self {
            bytes: Bytes::from(bytes),
            fields_end,
            http2: OnceLock::new(),
            ..self.clone()
        })
    }
}

fn is_packed_kind(value: &[u8]) -> bool {
    let begins = |with: &[u8]| {
        let start = value.get(..with.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(with))
    };
    PACKED_KINDS.iter().any(|kind| begins(kind)) && !begins(SVG)
}

fn pack(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder
        .write_all(body)
        .and_then(|()| encoder.finish())
        .expect("invariant: writing to memory does not fail")
}

#[cfg(test)]
mod tests {
    use super::super::AnswerBuilder;
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read as _;

    fn answer(status: u16, fields: &[(&str, &str)], body: &str) -> Answer {
        let mut builder = AnswerBuilder::new(status, None);
        for (name, value) in fields {
            builder = builder.field(name, value);
        }
        builder.body(body.as_bytes())
    }

    #[test]
    fn a_packed_answer_has_the_same_body() {
        let body = "abc ".repeat(300);
        let fields = [
            ("X-A", "1"),
            ("ETag", "W/\"v1\""),
            ("content-length", "1200"),
        ];
        let packed = answer(203, &fields, &body).packed().unwrap();
        let shown = packed.shown();
        let mut unpacked = String::new();
        GzDecoder::new(shown.body)
            .read_to_string(&mut unpacked)
            .unwrap();
        assert_eq!((shown.status, unpacked), (203, body));
        let fields: Vec<String> = shown
            .fields
            .iter()
            .map(|(n, v)| format!("{n}: {v}"))
            .collect();
        assert_eq!(
            fields,
            ["X-A: 1", "ETag: W/\"v1--gzip\"", "Content-Encoding: gzip"]
        );
        let length = packed.http2_head().headers()["content-length"].clone();
        assert_eq!(length.to_str().unwrap(), packed.body_len().to_string());
    }

    #[test]
    fn what_wiremock_does_not_pack_is_not_packed() {
        let check = |status, fields: &[(&str, &str)], body: &str, expected: bool| {
            let packed = answer(status, fields, body).packed();
            assert_eq!(packed.is_some(), expected, "{status} {fields:?}");
        };
        check(200, &[], "x", true);
        check(
            201,
            &[("Content-Type", "application/octet-stream")],
            "x",
            true,
        );
        check(200, &[("Content-Type", "image/svg+xml")], "x", true);
        check(200, &[("Content-Type", "Image/PNG")], "x", false);
        check(
            200,
            &[("content-type", "text/event-stream;charset=utf-8")],
            "x",
            false,
        );
        check(200, &[("Content-Encoding", "br")], "x", false);
        check(200, &[], "", false);
        for status in [204, 205, 304, 404, 500] {
            check(status, &[], "x", false);
        }
    }

    #[test]
    fn gzip_is_asked_for_by_name() {
        for (value, expected) in [
            ("gzip", true),
            ("GZIP", true),
            ("br, gzip", true),
            ("gzip;q=0.5, identity", true),
            ("gzip;q=0", false),
            ("gzip; q=0.000", false),
            ("x-gzip", false),
            ("deflate", false),
            ("*", false),
            ("", false),
        ] {
            let elements = value.as_bytes().split(|byte| *byte == b',');
            let wanted = elements.map(<[u8]>::trim_ascii).any(is_wanted_gzip);
            assert_eq!(wanted, expected, "{value}");
        }
    }
}
