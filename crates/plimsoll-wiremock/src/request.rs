//! A request as stub matching and the built-in endpoints see it.

pub mod content;
pub mod content_type;
pub mod misread;
pub(crate) mod multipart;
pub mod parameters;

use crate::budget::TooCostly;
use crate::request::content::Content;
use crate::request::multipart::MultipartPart;
use crate::request::parameters::Parameters;
use flate2::read::MultiGzDecoder;
use plimsoll_http::{Fields, RequestHead};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::io::Read as _;
use std::net::IpAddr;

/// The connection on which a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Channel {
    /// Whose it is.
    pub client: Option<IpAddr>,
    /// How it came.
    pub scheme: Scheme,
}

/// Whether a connection is secured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scheme {
    /// `http`.
    #[default]
    Http,
    /// `https`.
    Https,
}

/// A request, borrowed from its connection. What is not asked of it is not computed.
#[derive(Debug)]
pub struct Request<'a> {
    /// As received.
    pub method: &'a str,
    /// Path and query as received, undecoded; without scheme and authority, and without a `?` that nothing follows.
    pub url: &'a str,
    /// The path alone.
    pub path: &'a str,
    /// The header fields.
    pub fields: &'a Fields,
    /// The host and port that the client addressed.
    pub authority: &'a str,
    /// The channel that it came on.
    pub channel: Channel,
    /// Its body as far as it was kept: all of it, where a stub or a built-in endpoint wants to see bodies.
    pub body: Content<'a>,
    /// The bytes of the body, for values that borrow from them.
    raw_body: &'a [u8],
    parsed: Parsed,
}

/// Parts of a request that patterns need, each made once.
#[derive(Debug, Default)]
struct Parsed {
    query: OnceCell<Parameters>,
    cookies: OnceCell<Parameters>,
    form: OnceCell<Result<Parameters, TooCostly>>,
    parts: OnceCell<Vec<MultipartPart>>,
}

/// Beginning of a body packed with gzip (RFC 1952 §2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The most bytes that a packed body may have when it is unpacked.
const MOST_UNPACKED: usize = 10 << 20;
/// Bytes that any body may have then, and for each of its packed ones.
const UNPACKED: usize = 1 << 20;
const UNPACKED_A_BYTE: usize = 16;

impl Scheme {
    /// As it stands in a URL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port of an authority without one.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl<'a> Request<'a> {
    /// The view of `head` and what was kept of its body.
    pub fn of(head: &'a RequestHead, body: &'a [u8], channel: Channel) -> Self {
        let (target, path) = (head.target(), head.path());
        Self {
            method: head.method(),
            url: origin_form(target, path),
            path,
            fields: head.fields(),
            authority: head.authority(),
            channel,
            body: Content::of(unpacked(body)),
            raw_body: body,
            parsed: Parsed::default(),
        }
    }

    /// A request without a body, for tests.
    #[cfg(any(test, feature = "testing"))]
    pub fn bare(method: &'a str, url: &'a str, fields: &'a Fields) -> Self {
        Self {
            method,
            url,
            path: url.split('?').next().unwrap_or(url),
            fields,
            authority: "localhost",
            channel: Channel::default(),
            body: Content::default(),
            raw_body: b"",
            parsed: Parsed::default(),
        }
    }

    /// The query without its `?`, empty if there is none.
    pub fn query(&self) -> &'a str {
        self.url.get(self.path.len() + 1..).unwrap_or("")
    }

    /// The host that the client addressed, without its port.
    pub fn host(&self) -> &'a str {
        self.split_authority().0
    }

    /// The port that the client addressed.
    pub fn port(&self) -> u16 {
        self.split_authority()
            .1
            .parse()
            .unwrap_or(self.channel.scheme.default_port())
    }

    /// The query's parameters, decoded.
    pub fn query_parameters(&self) -> &Parameters {
        let query = || parameters::of_query(self.query());
        self.parsed.query.get_or_init(query)
    }

    /// The cookies of all `Cookie` fields.
    pub fn cookies(&self) -> &Parameters {
        self.parsed.cookies.get_or_init(|| {
            let fields = self.fields.get_all("Cookie");
            fields
                .flat_map(|field| parameters::of_cookies(&String::from_utf8_lossy(field)))
                .collect()
        })
    }

    /// The parameters of a form's body, decoded; none if its content type is another.
    pub fn form_parameters(&self) -> Result<&Parameters, TooCostly> {
        let form = self.parsed.form.get_or_init(|| {
            let kind = String::from_utf8_lossy(self.content_type()).to_ascii_lowercase();
            if kind.starts_with("application/x-www-form-urlencoded") {
                parameters::of_form(&self.body.text())
            } else {
                Ok(Parameters::default())
            }
        });
        form.as_ref().map_err(|error| *error)
    }

    /// The parts of a multipart body; none if it is not one.
    pub fn parts(&self) -> &[MultipartPart] {
        let parts = || multipart::parts(self.content_type(), self.raw_body);
        self.parsed.parts.get_or_init(parts)
    }

    fn content_type(&self) -> &[u8] {
        self.fields.get("Content-Type").unwrap_or(b"")
    }

    /// Host and port; the colons of an IPv6 address stand in brackets.
    fn split_authority(&self) -> (&'a str, &'a str) {
        match self.authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port),
            _ => (self.authority, ""),
        }
    }
}

/// A body as its sender meant it: unpacked if it begins as gzip does, as in WireMock. What cannot be unpacked, or is too long then, stays as it is.
pub fn unpacked(body: &[u8]) -> Cow<'_, [u8]> {
    if !body.starts_with(&GZIP) {
        return Cow::Borrowed(body);
    }
    let mut bytes = Vec::new();
    let most = MOST_UNPACKED.min(UNPACKED + UNPACKED_A_BYTE * body.len());
    let mut packed = MultiGzDecoder::new(body).take(most as u64 + 1);
    match packed.read_to_end(&mut bytes) {
        Ok(_) if bytes.len() <= most => Cow::Owned(bytes),
        _ => Cow::Borrowed(body),
    }
}

/// The part of a target from its path on, without the mark of an empty query, as WireMock sees it. The query of an absolute target without a path is not kept.
fn origin_form<'a>(target: &'a str, path: &'a str) -> &'a str {
    let target = match target.strip_suffix('?') {
        Some(before) if !before.contains('?') => before,
        _ => target,
    };
    if target.starts_with('/') {
        return target;
    }
    let Some((_, after_scheme)) = target.split_once("://") else {
        return path;
    };
    match after_scheme.find(['/', '?']) {
        Some(start) if after_scheme[start..].starts_with('/') => &after_scheme[start..],
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_have_a_port() {
        let fields = Fields::default();
        for (scheme, authority, expected) in [
            (Scheme::Http, "localhost:8080", ("localhost", 8080)),
            (Scheme::Http, "localhost", ("localhost", 80)),
            (Scheme::Https, "localhost", ("localhost", 443)),
            (Scheme::Http, "[::1]", ("[::1]", 80)),
            (Scheme::Https, "[::1]:81", ("[::1]", 81)),
        ] {
            let mut request = Request::bare("GET", "/", &fields);
            request.authority = authority;
            request.channel.scheme = scheme;
            assert_eq!((request.host(), request.port()), expected);
        }
    }

    #[test]
    fn the_url_starts_at_the_path() {
        for (target, path, expected) in [
            ("/a?b=1", "/a", "/a?b=1"),
            ("http://x:80/a?b=1", "/a", "/a?b=1"),
            ("http://x", "/", "/"),
            ("http://x?a=/b", "/", "/"),
            ("/a?", "/a", "/a"),
            ("/a?b?", "/a", "/a?b?"),
            ("*", "*", "*"),
        ] {
            assert_eq!(origin_form(target, path), expected, "{target}");
        }
    }
}
