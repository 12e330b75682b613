//! Other readings of a path by an upstream: every path that a generous reader could make of a normalised one.
//!
//! Servers take parameters off segments before they resolve escapes (Tomcat, Jetty) or behind that, resolve escapes twice where two of them
//! stand in a row or one is old (IIS), read `\` as `/` and leave dots and spaces at the end of a name out (Windows), end a path at what would
//! have ended it unescaped (nginx' `proxy_pass` with `$uri`, old PHP), leave empty segments out or keep them (nginx, Jetty), and resolve dot
//! segments that came to light by any of that. Here each of these steps may be taken or not, and all that comes of it counts.
//!
//! Judging a request by these is left to [`crate::policy::rules`] and to admission.

use std::borrow::Cow;

/// Readings of one path. An ordinary one has one, one with parameters two or three.
const MOST_READINGS: usize = 32;

/// A path that can be read in more ways than [`MOST_READINGS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMany;

/// Change that a reader may make to a path; none if that changes nothing.
type Step = fn(&str) -> Option<String>;

/// Before escapes are resolved.
const ENCODED: [Step; 2] = [without_overlong, without_parameters];
/// Afterwards.
const DECODED: [Step; 9] = [
    without_parameters,
    decoded_again,
    without_parameters,
    with_slashes,
    until_its_end,
    trimmed,
    compact,
    without_dots,
    compact,
];

/// Readings of a normalised path, decoded, other than the one that only resolves its escapes once, see [`decode`].
///
/// # Errors
/// When there are too many.
pub(crate) fn others(path: &str) -> Result<Vec<String>, TooMany> {
    if is_plain(path) {
        return Ok(Vec::new());
    }
    let mut readings = vec![path.to_owned()];
    take(&mut readings, &ENCODED)?;
    let mut distinct: Vec<String> = Vec::with_capacity(readings.len());
    for reading in readings {
        let reading = decode(&reading).into_owned();
        if !distinct.contains(&reading) {
            distinct.push(reading);
        }
    }
    take(&mut distinct, &DECODED)?;
    distinct.remove(0);
    Ok(distinct)
}

/// Whether there is one way to read a normalised path but for its letters' case.
pub(crate) fn is_plain(path: &str) -> bool {
    !path.contains([';', '%']) && !path.contains("./") && !path.ends_with('.')
}

/// Adds what these steps, each of which may be taken, make of each reading.
fn take(readings: &mut Vec<String>, steps: &[Step]) -> Result<(), TooMany> {
    for step in steps {
        for index in 0..readings.len() {
            let Some(other) = step(&readings[index]) else {
                continue;
            };
            if readings.contains(&other) {
                continue;
            }
            if readings.len() == MOST_READINGS {
                return Err(TooMany);
            }
            readings.push(other);
        }
    }
    Ok(())
}

/// Escapes resolved once, as a server does that looks for a file or a handler; `%u002f` (IIS) is one, too.
pub(crate) fn decode(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('%') {
        out.extend_from_slice(before.as_bytes());
        let number = |digits: Option<&str>| {
            let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
            u32::from_str_radix(digits, 16).ok()
        };
        rest = after;
        if let Some(octet) = number(after.get(..2)).and_then(|octet| u8::try_from(octet).ok()) {
            out.push(octet);
            rest = &after[2..];
        } else if let Some(wide) = (after.starts_with(['u', 'U']))
            .then(|| number(after.get(1..5)))
            .flatten()
            .and_then(char::from_u32)
        {
            out.extend_from_slice(wide.encode_utf8(&mut [0; 4]).as_bytes());
            rest = &after[5..];
        } else {
            out.push(b'%');
        }
    }
    out.extend_from_slice(rest.as_bytes());
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

/// ASCII in two octets where UTF-8 knows one, `%C0%AF` for a slash: what old decoders let pass.
fn without_overlong(path: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = path;
    while let Some(at) = rest.find("%C0%").or_else(|| rest.find("%C1%")) {
        let digits = rest.get(at + 4..at + 6);
        let low = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let high = u8::from(rest.as_bytes()[at + 2] == b'1') << 6;
        match low.filter(|low| low & 0xc0 == 0x80) {
            Some(low) => {
                out += &rest[..at];
                out += &format!("%{:02X}", high | low & 0x3f);
                rest = &rest[at + 6..];
            }
            None => {
                out += &rest[..at + 3];
                rest = &rest[at + 3..];
            }
        }
    }
    out += rest;
    (out != path).then_some(out)
}

fn without_parameters(path: &str) -> Option<String> {
    let names = |segment| str::split(segment, ';').next().unwrap_or_default();
    path.contains(';')
        .then(|| joined(path.split('/').map(names)))
}

fn decoded_again(path: &str) -> Option<String> {
    match decode(path) {
        Cow::Owned(other) if other != path => Some(other),
        _ => None,
    }
}

fn with_slashes(path: &str) -> Option<String> {
    path.contains('\\').then(|| path.replace('\\', "/"))
}

/// Up to what begins a query or a fragment, or ends a string of C.
fn until_its_end(path: &str) -> Option<String> {
    let end = path.find(['?', '#', '\0'])?;
    Some(path[..end].to_owned())
}

/// Segments without what Windows takes off names. A dot segment stays one.
fn trimmed(path: &str) -> Option<String> {
    let trim = |segment| match str::trim_matches(segment, ' ') {
        dots @ ("." | "..") => dots,
        name => name.trim_end_matches(['.', ' ']),
    };
    let other = joined(path.split('/').map(trim));
    (other != path).then_some(other)
}

/// Without empty segments; a slash at the end stays.
fn compact(path: &str) -> Option<String> {
    if !path.contains("//") {
        return None;
    }
    let mut out = String::with_capacity(path.len());
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        out.push('/');
        out += segment;
    }
    if path.ends_with('/') || out.is_empty() {
        out.push('/');
    }
    Some(out)
}

/// RFC 3986 §5.2.4.
fn without_dots(path: &str) -> Option<String> {
    let is_dot = |segment: &str| matches!(segment, "." | "..");
    if !path.split('/').any(is_dot) {
        return None;
    }
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            _ => kept.push(segment),
        }
    }
    if path.rsplit('/').next().is_some_and(is_dot) {
        kept.push("");
    }
    Some(format!("/{}", kept.join("/")))
}

fn joined<'a>(segments: impl Iterator<Item = &'a str>) -> String {
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::messages::path::normalise;
    use plimsoll_http::prefix::covers;

    #[test]
    fn every_step_that_a_reader_may_take_counts() {
        let check = |path: &str, expected: &[&str]| {
            let actual = others(path).unwrap();
            assert_eq!(actual, expected, "{path}");
        };
        check("/a/b", &[]);
        check("/.well-known/a..b", &[]);
        check("/a%20b", &[]);
        check("/a;x/b", &["/a/b"]);
        check("/;/a", &["//a", "/a"]);
        check("/a%3Bx", &["/a"]);
        check("/a%253Bx", &["/a;x", "/a"]);
        check("/%2561", &["/a"]);
        check("/x/%252E%252E/a", &["/x/../a", "/a"]);
        check("/x%252Fa", &["/x/a"]);
        check("/x%255Ca", &["/x\\a", "/x/a"]);
        check("/x%25u002fa", &["/x/a"]);
        check("/x%C0%AFa", &["/x/a"]);
        check("/x%C1%81", &["/xA"]);
        check("/a.", &["/a"]);
        check("/a.%20/b", &["/a/b"]);
        check("/a%3Fb", &["/a"]);
        check("/a%2500b", &["/a\0b", "/a"]);
        check("/%2", &[]);
    }

    #[test]
    fn a_path_of_too_many_readings_is_told() {
        let path = "/a;x%253By/b./%252E%252E%20/%3F%255C/;/c%C0%AFd";
        assert_eq!(others(path), Err(TooMany));
    }

    /// Paths that servers may take for others.
    pub(crate) const SPELLINGS: &str = "(/(;|;a=b|a|admin|adm%2569n|admin[.;]|admin%20|%3[bB]|%253b|%252[eE]%252e(;a)?|%252e|%255c|x%252fadmin|%2500|%3[fF]q)){1,4}";

    /// Readers as they are, each written down on its own.
    pub(crate) fn upstreams(path: &str) -> Vec<String> {
        let parameters_off = |path: &str| -> String {
            let segments = path.split('/').map(|s| s.split(';').next().unwrap());
            segments.collect::<Vec<_>>().join("/")
        };
        let merged = |path: &str| {
            let mut path = path.to_owned();
            while path.contains("//") {
                path = path.replace("//", "/");
            }
            path
        };
        let resolved = |path: &str| {
            let mut kept: Vec<&str> = Vec::new();
            for segment in path.split('/').skip(1) {
                match segment {
                    "." => {}
                    ".." => {
                        kept.pop();
                    }
                    other => kept.push(other),
                }
            }
            format!("/{}", kept.join("/"))
        };
        let windows = |path: &str| {
            let path = path.replace('\\', "/");
            let segments = path.split('/').map(|segment| match segment.trim() {
                dots @ ("." | "..") => dots,
                name => name.trim_end_matches(['.', ' ']),
            });
            segments.collect::<Vec<_>>().join("/")
        };
        let once = |path: &str| decode(path).into_owned();
        let nginx = resolved(&merged(&once(path)));
        vec![
            resolved(&once(&parameters_off(path))),            // Tomcat
            merged(&resolved(&once(&parameters_off(path)))),   // Jetty
            merged(&resolved(&parameters_off(&once(path)))),   // Spring's helper
            merged(&resolved(&windows(&once(&once(path))))),   // IIS, twice
            resolved(&merged(&windows(&once(path)))),          // IIS
            resolved(&merged(&parameters_off(&once(&nginx)))), // nginx before Jetty
            nginx.split('?').next().unwrap_or_default().to_owned(), // nginx with `$uri`
            nginx,
        ]
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(1024))]
        #[test]
        fn no_upstream_reads_what_is_not_among_the_readings(
            path in SPELLINGS
        ) {
            let Ok(path) = normalise(&path) else { return Ok(()) };
            let Ok(others) = others(&path) else { return Ok(()) };
            let sent = decode(&path);
            for upstream in upstreams(&path) {
                let is_known = *sent == *upstream || others.contains(&upstream)
                    || others.contains(&format!("{upstream}/"));
                proptest::prop_assert!(is_known, "{path}: {upstream} is not in {others:?}");
                if covers("/admin", &upstream) {
                    let closed = covers("/admin", &sent) || others.iter().any(|o| covers("/admin", o));
                    proptest::prop_assert!(closed);
                }
            }
        }
    }
}
