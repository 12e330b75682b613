//! A user's cookies, as far as RFC 6265 concerns a client of one host: path, expiry, `Secure`, replacement and order.
//!
//! A library would bring public suffixes, internationalised names and a URL parser for domains that a load of one target never meets; what
//! remains of the standard is this file. Cookies for other hosts are refused, as section 5.3 wants it.

use crate::clock::Nanos;
use jiff::Timestamp;

/// Cookies that a user keeps at most; the oldest goes.
const MOST: usize = 50;
/// The longest name and value together.
const LONGEST: usize = 4096;

/// The cookies of one user.
#[derive(Debug, Default)]
pub(crate) struct Jar {
    cookies: Vec<Cookie>,
}

#[derive(Debug)]
struct Cookie {
    name: Vec<u8>,
    value: Vec<u8>,
    path: Vec<u8>,
    /// From then on it is gone; `None`: never.
    until: Option<Nanos>,
    secure: bool,
}

/// Name and value of a `Set-Cookie` field (RFC 6265, section 5.2).
pub(super) fn name_and_value(field: &[u8]) -> Option<(&[u8], &[u8])> {
    let pair = field.split(|byte| *byte == b';').next()?;
    let equals = pair.iter().position(|byte| *byte == b'=')?;
    let name = pair[..equals].trim_ascii();
    (!name.is_empty()).then(|| (name, pair[equals + 1..].trim_ascii()))
}

/// Where and when an answer came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment<'a> {
    /// The host that was asked.
    pub(crate) host: &'a str,
    /// The target of the request.
    pub(crate) target: &'a [u8],
    pub(crate) now: Nanos,
    /// The time of day.
    pub(crate) wall: Timestamp,
}

impl Jar {
    /// Keeps what a `Set-Cookie` field says, or forgets it.
    pub(crate) fn store(&mut self, field: &[u8], at: Moment<'_>) {
        let Some((name, value)) = name_and_value(field) else {
            return;
        };
        if name.len() + value.len() > LONGEST {
            return;
        }
        let mut cookie = Cookie {
            name: name.to_vec(),
            value: value.to_vec(),
            path: default_path(at.target).to_vec(),
            until: None,
            secure: false,
        };
        let mut max_age = None;
        for attribute in field.split(|byte| *byte == b';').skip(1) {
            let mut parts = attribute.splitn(2, |byte| *byte == b'=');
            let key = parts.next().unwrap_or_default().trim_ascii();
            let value = parts.next().unwrap_or_default().trim_ascii();
            if key.eq_ignore_ascii_case(b"path") && value.starts_with(b"/") {
                cookie.path = value.to_vec();
            } else if key.eq_ignore_ascii_case(b"domain") && !is_of(at.host, value) {
                return;
            } else if key.eq_ignore_ascii_case(b"max-age") {
                max_age = as_text(value).parse::<i64>().ok().or(max_age);
            } else if key.eq_ignore_ascii_case(b"expires") && cookie.until.is_none() {
                cookie.until = expiry(as_text(value), at);
            } else if key.eq_ignore_ascii_case(b"secure") {
                cookie.secure = true;
            }
        }
        if let Some(seconds) = max_age {
            let seconds = u64::try_from(seconds).unwrap_or(0);
            cookie.until = Some(at.now.saturating_add(seconds.saturating_mul(1_000_000_000)));
        }
        self.put(cookie, at.now);
    }

    fn put(&mut self, cookie: Cookie, now: Nanos) {
        let same = self
            .cookies
            .iter()
            .position(|old| old.name == cookie.name && old.path == cookie.path);
        let gone = cookie.until.is_some_and(|until| until <= now);
        match same {
            Some(at) if gone => drop(self.cookies.remove(at)),
            Some(at) => self.cookies[at] = cookie,
            None if gone => {}
            None => {
                if self.cookies.len() == MOST {
                    self.cookies.remove(0);
                }
                self.cookies.push(cookie);
            }
        }
        // Longer paths first, older ones first among equals (section 5.4).
        self.cookies
            .sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
    }

    /// Appends the `Cookie` field for a target, if there is anything to send.
    pub(super) fn write(
        &mut self,
        target: &[u8],
        security: Security,
        now: Nanos,
        out: &mut Vec<u8>,
    ) {
        self.cookies
            .retain(|cookie| cookie.until.is_none_or(|until| until > now));
        let path = path_of(target);
        let mut separator: &[u8] = b"Cookie: ";
        let start = out.len();
        for cookie in &self.cookies {
            if path_matches(path, &cookie.path) && (!cookie.secure || security == Security::Tls) {
                out.extend_from_slice(separator);
                out.extend_from_slice(&cookie.name);
                out.push(b'=');
                out.extend_from_slice(&cookie.value);
                separator = b"; ";
            }
        }
        if out.len() > start {
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// Whether what is sent can be read on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Security {
    Clear,
    Tls,
}

fn as_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

fn path_of(target: &[u8]) -> &[u8] {
    let end = target.iter().position(|byte| *byte == b'?');
    &target[..end.unwrap_or(target.len())]
}

/// Section 5.1.4: up to the last slash.
fn default_path(target: &[u8]) -> &[u8] {
    let path = path_of(target);
    match path.iter().rposition(|byte| *byte == b'/') {
        None | Some(0) => b"/",
        Some(slash) => &path[..slash],
    }
}

fn path_matches(path: &[u8], of_cookie: &[u8]) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || of_cookie.ends_with(b"/") || rest.starts_with(b"/"))
}

/// Whether the host is of the domain (section 5.1.3).
fn is_of(host: &str, domain: &[u8]) -> bool {
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    let domain = as_text(domain.strip_prefix(b".").unwrap_or(domain));
    let (host, domain) = (host.to_ascii_lowercase(), domain.to_ascii_lowercase());
    domain.is_empty()
        || host
            .strip_suffix(&domain)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

fn expiry(text: &str, at: Moment<'_>) -> Option<Nanos> {
    let text = text.replace('-', " ");
    let expires = jiff::fmt::rfc2822::parse(&text).ok()?.timestamp();
    let left = expires.as_nanosecond() - at.wall.as_nanosecond();
    Some(
        at.now
            .saturating_add(u64::try_from(left.max(0)).unwrap_or(u64::MAX)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    fn stored(fields: &[&str]) -> Jar {
        let mut jar = Jar::default();
        for field in fields {
            let at = Moment {
                host: "shop.example:8080",
                target: b"/cart/add?x",
                now: 10 * SECOND,
                wall: "2026-11-21T00:00:00Z".parse().unwrap(),
            };
            jar.store(field.as_bytes(), at);
        }
        jar
    }

    #[track_caller]
    fn check(fields: &[&str], target: &str, now: Nanos, expected: &str) {
        let mut out = Vec::new();
        let mut jar = stored(fields);
        jar.write(target.as_bytes(), Security::Clear, now, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{fields:?}");
    }

    #[test]
    fn cookies_come_back_where_and_while_they_should() {
        let now = 11 * SECOND;
        check(
            &["a=1", "b = 2 ; HttpOnly"],
            "/cart/x",
            now,
            "Cookie: a=1; b=2\r\n",
        );
        check(&["a=1"], "/cart", now, "Cookie: a=1\r\n");
        check(&["a=1"], "/cartoon", now, "");
        check(&["a=1; Path=/"], "/other?x", now, "Cookie: a=1\r\n");
        check(
            &["a=1; path=/", "a=2; Path=/", "c=3"],
            "/cart/x",
            now,
            "Cookie: c=3; a=2\r\n",
        );
        check(&["a=1", "a=; Max-Age=0"], "/cart/x", now, "");
        check(
            &["a=1; Max-Age=5"],
            "/cart/x",
            14 * SECOND,
            "Cookie: a=1\r\n",
        );
        check(&["a=1; Max-Age=5"], "/cart/x", 15 * SECOND, "");
        check(
            &["a=1; Expires=Sat, 21 Nov 2026 00:00:05 GMT"],
            "/cart/x",
            14 * SECOND,
            "Cookie: a=1\r\n",
        );
        check(
            &["a=1; Expires=Sat, 21-Nov-2026 00:00:05 GMT"],
            "/cart/x",
            15 * SECOND,
            "",
        );
        check(&["a=1; Secure"], "/cart/x", now, "");
        check(&["a=1; Domain=.example"], "/cart/x", now, "Cookie: a=1\r\n");
        check(&["a=1; Domain=other.example"], "/cart/x", now, "");
        check(&["=1", "nonsense"], "/cart/x", now, "");
    }

    #[test]
    fn a_jar_holds_so_many() {
        let fields: Vec<String> = (0..60).map(|n| format!("c{n}=x; Path=/")).collect();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let jar = stored(&fields);
        assert_eq!(jar.cookies.len(), MOST);
        assert_eq!(jar.cookies[0].name, b"c10");
    }
}
