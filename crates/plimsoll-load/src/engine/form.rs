//! A request in the form of HTTP/2, made from that of HTTP/1.1: an iteration need know one form only.

use bytes::Bytes;
use http::header::{CONNECTION, HOST, HeaderName, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, Method, Request, Uri, Version};

/// A request, ready to be sent any number of times.
#[derive(Debug, Clone)]
pub(super) struct Form {
    pub(super) head: Request<()>,
    pub(super) body: Bytes,
}

impl Form {
    /// The form of a request whose head and body are these bytes; `None` when it has none, such as a target that no URI can hold.
    pub(super) fn new(bytes: &[u8], scheme: &Scheme) -> Option<Self> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let (head, body) = (&bytes[..end], &bytes[end + 4..]);
        let mut lines = head
            .split(|byte| *byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let mut words = lines.next()?.splitn(3, |byte| *byte == b' ');
        let method = Method::from_bytes(words.next()?).ok()?;
        let target = PathAndQuery::try_from(words.next()?).ok()?;
        let mut fields = HeaderMap::new();
        let mut authority = None;
        for line in lines {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let name = HeaderName::from_bytes(&line[..colon]).ok()?;
            let value = line[colon + 1..].trim_ascii();
            if name == HOST {
                authority = Some(Authority::try_from(value).ok()?);
            } else if name != CONNECTION {
                fields.append(name, HeaderValue::from_bytes(value).ok()?);
            }
        }
        let uri = Uri::builder()
            .scheme(scheme.clone())
            .authority(authority?)
            .path_and_query(target)
            .build()
            .ok()?;
        let mut head = Request::new(());
        *head.method_mut() = method;
        *head.uri_mut() = uri;
        *head.version_mut() = Version::HTTP_2;
        *head.headers_mut() = fields;
        Some(Self {
            head,
            body: Bytes::copy_from_slice(body),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_keeps_its_meaning() {
        let text =
            b"POST /a?b=%20c HTTP/1.1\r\nHost: example.com:81\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 4\r\nConnection: close\r\n\r\n\r\n\r\n";
        let form = Form::new(text, &Scheme::HTTPS).unwrap();
        assert_eq!(form.head.method(), Method::POST);
        assert_eq!(
            form.head.uri().to_string(),
            "https://example.com:81/a?b=%20c"
        );
        let fields: Vec<_> = form
            .head
            .headers()
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        assert_eq!(fields, ["x-a: 1", "x-a: 2", "content-length: 4"]);
        assert_eq!(form.body, "\r\n\r\n");
    }

    #[test]
    fn what_no_uri_can_hold_has_no_form() {
        assert!(Form::new(b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", &Scheme::HTTP).is_none());
        assert!(Form::new(b"GET / HTTP/1.1\r\n\r\n", &Scheme::HTTP).is_none());
    }
}
