//! Request targets: what must be percent-encoded in one, and where a redirect leads.

use super::memory::Memory;

/// Percent-encodes what `out` has from `start` on, but for bytes that may `stay`.
pub(super) fn encode_tail(
    memory: &mut Memory,
    out: &mut Vec<u8>,
    start: usize,
    stays: impl Fn(u8) -> bool,
) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let Some(first) = out[start..].iter().position(|byte| !stays(*byte)) else {
        return;
    };
    let start = start + first;
    let mut text = memory.take_scratch();
    text.extend_from_slice(&out[start..]);
    out.truncate(start);
    for byte in &text {
        if stays(*byte) {
            out.push(*byte);
        } else {
            out.extend([
                b'%',
                HEX[usize::from(byte >> 4)],
                HEX[usize::from(byte & 15)],
            ]);
        }
    }
    memory.give_back(text);
}

/// Whether a byte may stand in a request target as it is (RFC 3986, section 3, and `%` of what is encoded already).
pub(super) fn is_of_target(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?@!$&'()*+,;=%[]".contains(&byte)
}

/// The origin of a load, as redirects name it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// `http` or `https`.
    pub(crate) scheme: &'a str,
    /// Host, and port unless it is the scheme's own.
    pub(crate) authority: &'a str,
}

impl Origin<'_> {
    /// Whether a URL with this scheme, or with none of its own, and this authority is of this origin: a port may be named or left out where it
    /// is the scheme's own (RFC 9110, section 4.2.3).
    fn has(self, scheme: Option<&[u8]>, authority: &[u8]) -> bool {
        let named = |authority| without_default_port(self.scheme, authority);
        scheme.is_none_or(|scheme| scheme.eq_ignore_ascii_case(self.scheme.as_bytes()))
            && named(authority).eq_ignore_ascii_case(named(self.authority.as_bytes()))
    }
}

fn without_default_port<'a>(scheme: &str, authority: &'a [u8]) -> &'a [u8] {
    let default: &[u8] = match scheme {
        "https" => b":443",
        _ => b":80",
    };
    let host = authority.strip_suffix(default);
    host.or_else(|| authority.strip_suffix(b":"))
        .unwrap_or(authority)
}

/// Where a redirect leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A target of the same origin.
    Here(Vec<u8>),
    /// Another origin, which this load is not for.
    Elsewhere,
}

/// Resolves a `Location` against the target that was asked for (RFC 3986, section 5.2), as far as it is for `origin`.
pub(crate) fn resolve(origin: Origin<'_>, asked: &[u8], location: &[u8]) -> Destination {
    let location = location
        .split(|byte| *byte == b'#')
        .next()
        .unwrap_or_default();
    let absolute = [&b"http"[..], b"https"].iter().find_map(|known| {
        let (scheme, rest) = location.split_at_checked(known.len())?;
        let rest = rest.strip_prefix(b"://")?;
        scheme
            .eq_ignore_ascii_case(known)
            .then_some((Some(scheme), rest))
    });
    let of_same_scheme = || Some((None, location.strip_prefix(b"//")?));
    if let Some((scheme, rest)) = absolute.or_else(of_same_scheme) {
        let end = rest
            .iter()
            .position(|byte| matches!(byte, b'/' | b'?'))
            .unwrap_or(rest.len());
        let (host, target) = rest.split_at(end);
        if !origin.has(scheme, host) {
            return Destination::Elsewhere;
        }
        return Destination::Here(match target.first() {
            Some(b'/') => clean(target),
            _ => [b"/", target].concat(),
        });
    }
    let path_end = asked
        .iter()
        .position(|byte| *byte == b'?')
        .unwrap_or(asked.len());
    let path = &asked[..path_end];
    Destination::Here(match location.first() {
        Some(b'/') => clean(location),
        Some(b'?') => [path, location].concat(),
        None => asked.to_vec(),
        Some(_) => {
            let slash = path.iter().rposition(|byte| *byte == b'/');
            let directory = &path[..slash.map_or(0, |at| at + 1)];
            clean(&[directory, location].concat())
        }
    })
}

/// Without the segments `.` and `..` (RFC 3986, section 5.2.4).
fn clean(target: &[u8]) -> Vec<u8> {
    let end = target
        .iter()
        .position(|byte| *byte == b'?')
        .unwrap_or(target.len());
    let (path, query) = target.split_at(end);
    let mut segments: Vec<&[u8]> = Vec::new();
    let mut parts = path.split(|byte| *byte == b'/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        match part {
            b"." | b".." => {
                if part == b".." {
                    segments.pop();
                }
                if last {
                    segments.push(b"");
                }
            }
            part => segments.push(part),
        }
    }
    let mut cleaned = vec![b'/'];
    cleaned.extend(segments.join(&b'/'));
    cleaned.extend_from_slice(query);
    cleaned
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a location leads a load for this origin.
    fn shown(scheme: &str, authority: &str, location: &str) -> String {
        let origin = Origin { scheme, authority };
        match resolve(origin, b"/a/b?c=d", location.as_bytes()) {
            Destination::Here(target) => String::from_utf8(target).unwrap(),
            Destination::Elsewhere => "elsewhere".to_owned(),
        }
    }

    #[test]
    fn locations_are_resolved() {
        let check = |location: &str, expected: &str| {
            assert_eq!(shown("http", "h", location), expected, "{location}");
        };
        check("/x?y#z", "/x?y");
        check("x", "/a/x");
        check("../x/./y", "/x/y");
        check("..", "/");
        check("?q=1", "/a/b?q=1");
        check("", "/a/b?c=d");
        check("HTTP://H:80", "/");
        check("http://h:80?x", "/?x");
        check("//h:80/x", "/x");
        check("https://other/x", "elsewhere");
        check("http://h:81/", "elsewhere");
    }

    #[test]
    fn an_origin_is_the_same_with_its_default_port_and_without() {
        let check = |scheme: &str, authority: &str, here: &[&str], elsewhere: &[&str]| {
            for (locations, expected) in [(here, "/x"), (elsewhere, "elsewhere")] {
                for location in locations {
                    let shown = shown(scheme, authority, location);
                    assert_eq!(shown, expected, "{scheme}://{authority}: {location}");
                }
            }
        };
        for authority in ["h", "h:80"] {
            check(
                "http",
                authority,
                &[
                    "http://h/x",
                    "http://h:80/x",
                    "http://h:/x",
                    "//h/x",
                    "//H:80/x",
                ],
                &[
                    "https://h/x",
                    "https://h:80/x",
                    "http://h:443/x",
                    "//h:443/x",
                ],
            );
        }
        for authority in ["h", "h:443"] {
            check(
                "https",
                authority,
                &["https://h/x", "HTTPS://h:443/x", "//h/x", "//h:443/x"],
                &["http://h/x", "http://h:443/x", "https://h:80/x", "//h:80/x"],
            );
        }
        check(
            "http",
            "h:8080",
            &["http://h:8080/x"],
            &["http://h/x", "http://h:80/x", "https://h:8080/x"],
        );
        check(
            "http",
            "[::80]",
            &["http://[::80]/x", "http://[::80]:80/x"],
            &["http://[:/x", "http://[::80]:81/x"],
        );
    }
}
