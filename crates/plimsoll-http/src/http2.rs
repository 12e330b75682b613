//! HTTP/2 as far as both ends share it: windows, the preface by which a client says that it speaks it, and requests in the form of those of
//! HTTP/1.1, so that one set of rules holds for both. Frames and streams are left to the crate `h2`.

use crate::codec::decode::{Event, RequestDecoder};
use crate::codec::error::ProtocolError;
use crate::codec::head::{RequestHead, Version};
use crate::codec::limits::Limits;
use crate::connection::RequestReader;
use std::io;
use tokio::io::AsyncRead;

/// Bytes of a body that may come on a stream before any of it was read.
pub const STREAM_WINDOW: u32 = 64 * 1024;
/// Bytes of all bodies of a connection that may come before any of them was read.
pub const CONNECTION_WINDOW: u32 = 1024 * 1024;
/// Bytes of a body that wait for the peer of a connection to take them.
pub const SEND_BUFFER: usize = 64 * 1024;

/// How a client begins who knows that the server speaks HTTP/2 (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A request of HTTP/2, before it is a head.
#[derive(Debug)]
pub struct Parts<'a> {
    /// `:method`
    pub method: &'a str,
    /// `:path`, or `:authority` of a CONNECT.
    pub target: &'a str,
    /// `:authority`, else the field `Host`; it becomes that field.
    pub authority: &'a str,
}

impl RequestHead {
    /// The head of a request that came by HTTP/2. `fields` are all but `Host`; the crumbs of a cookie (RFC 9113, section 8.2.3) are put together.
    ///
    /// # Errors
    /// [`ProtocolError`], by the rules for a head of HTTP/1.1 with the same content.
    pub fn from_http2<'a>(
        parts: &Parts<'_>,
        fields: impl Iterator<Item = (&'a str, &'a [u8])>,
        limits: Limits,
    ) -> Result<Self, ProtocolError> {
        let Parts {
            method,
            target,
            authority,
        } = parts;
        let mut text = format!("{method} {target} HTTP/1.1\r\nhost: {authority}\r\n").into_bytes();
        let mut cookie: Vec<u8> = Vec::new();
        for (name, value) in fields {
            if name == "cookie" {
                if !cookie.is_empty() {
                    cookie.extend_from_slice(b"; ");
                }
                cookie.extend_from_slice(value);
            } else {
                push_field(&mut text, name, value);
            }
        }
        if !cookie.is_empty() {
            push_field(&mut text, "cookie", &cookie);
        }
        text.extend_from_slice(b"\r\n");
        let mut decoder = RequestDecoder::new(limits);
        let step = decoder.decode(&text)?;
        if step.event != Event::Head || step.consumed != text.len() {
            return Err(ProtocolError::RequestLine);
        }
        let mut head = decoder.into_head();
        head.version = Version::Http2;
        Ok(head)
    }
}

fn push_field(text: &mut Vec<u8>, name: &str, value: &[u8]) {
    text.extend_from_slice(name.as_bytes());
    text.extend_from_slice(b": ");
    text.extend_from_slice(value);
    text.extend_from_slice(b"\r\n");
}

impl<R: AsyncRead + Unpin> RequestReader<R> {
    /// Whether the client begins with the preface of HTTP/2; waits for as many bytes as it takes to tell, and consumes none.
    ///
    /// # Errors
    /// The transport's.
    pub async fn begins_with_preface(&mut self) -> io::Result<bool> {
        loop {
            let arrived = self.buffered();
            let known = arrived.len().min(PREFACE.len());
            if arrived[..known] != PREFACE[..known] {
                return Ok(false);
            }
            if known == PREFACE.len() {
                return Ok(true);
            }
            if !self.more().await? {
                return Ok(false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(
        authority: &str,
        target: &str,
        fields: &[(&str, &str)],
    ) -> Result<RequestHead, ProtocolError> {
        let parts = Parts {
            method: "GET",
            target,
            authority,
        };
        let fields = fields.iter().map(|(name, value)| (*name, value.as_bytes()));
        RequestHead::from_http2(&parts, fields, Limits::default())
    }

    #[test]
    fn a_request_has_the_form_of_one_of_http1() {
        let fields = [("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")];
        let head = head("a.example:81", "/p?q=1", &fields).unwrap();
        assert_eq!((head.method(), head.path()), ("GET", "/p"));
        assert_eq!(
            (head.query(), head.authority()),
            (Some("q=1"), "a.example:81")
        );
        assert_eq!(head.version(), Version::Http2);
        let fields: Vec<_> = head.fields().iter().collect();
        let expected: [(&str, &[u8]); 3] = [
            ("host", b"a.example:81"),
            ("x", b"y"),
            ("cookie", b"a=1; b=2"),
        ];
        assert_eq!(fields, expected);
        let again = RequestHead::from_text(head.text(), head.version()).unwrap();
        assert!(again.fields().iter().eq(head.fields().iter()));
        assert_eq!(
            (again.method(), again.target(), again.authority()),
            ("GET", "/p?q=1", "a.example:81")
        );
        assert_eq!(again.version(), Version::Http2);
        assert!(RequestHead::from_text(b"GET / HT", Version::Http11).is_none());
    }

    #[test]
    fn the_rules_are_those_of_http1() {
        assert_eq!(head("a b", "/", &[]).unwrap_err(), ProtocolError::Host);
        assert_eq!(
            head("a", "/\u{e9}", &[]).unwrap_err(),
            ProtocolError::Target
        );
        let long = format!("/{}", "x".repeat(9000));
        assert_eq!(
            head("a", &long, &[]).unwrap_err(),
            ProtocolError::TargetTooLong
        );
        let many = [("x", "y"); 200];
        assert_eq!(
            head("a", "/", &many).unwrap_err(),
            ProtocolError::HeadTooLarge
        );
    }

    #[tokio::test]
    async fn a_preface_is_told_from_a_request() {
        let check = async |bytes: &'static [u8], expected: bool| {
            let mut reader = RequestReader::new(bytes, Limits::default());
            assert_eq!(reader.begins_with_preface().await.unwrap(), expected);
            assert_eq!(reader.buffered(), bytes);
        };
        check(PREFACE, true).await;
        check(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nmore", true).await;
        check(b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", false).await;
        check(b"PR", false).await;
        check(b"GET / HTTP/1.1\r\n", false).await;
    }
}
