//! Normalises request paths: one spelling per resource, so that what is routed, checked and forwarded is the same text.
//!
//! Whatever two servers could read differently is refused, not repaired: encoded slashes and backslashes, dot
//! segments in any spelling (also `..;x`, which some servers strip to `..`), empty segments, control characters.
//! Forms that are equivalent by RFC 3986 §6.2.2 are rewritten: percent-encoded unreserved characters are decoded, other
//! escapes get upper-case digits. Choosing a route is left to [`crate::routing::router`]; what of the rest servers read differently all the same, to
//! [`readings`].

pub(crate) mod readings;

use std::borrow::Cow;

/// Why a path was refused. The text goes to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PathError {
    #[error("the path does not begin with a slash")]
    NotAbsolute,
    #[error("the path holds an encoded slash")]
    EncodedSlash,
    #[error("the path holds a backslash")]
    Backslash,
    #[error("the path holds a dot segment")]
    DotSegment,
    #[error("the path holds an empty segment")]
    EmptySegment,
    #[error("the path holds a malformed percent-encoding")]
    Escape,
    #[error("the path holds a control character")]
    Control,
    #[error("the path holds a character that must be percent-encoded")]
    Character,
}

/// The normalised form of `raw`, which is the path of a request target without its query.
///
/// The result begins with `/`, has no empty segment except possibly the last (a trailing slash is kept), no dot
/// segment, and each of its octets has exactly one spelling. Normalising it again changes nothing.
pub(crate) fn normalise(raw: &str) -> Result<Cow<'_, str>, PathError> {
    if !raw.starts_with('/') {
        return Err(PathError::NotAbsolute);
    }
    let path = if raw.contains('%') {
        Cow::Owned(rewrite_escapes(raw)?)
    } else {
        Cow::Borrowed(raw)
    };
    check_characters(&path)?;
    check_segments(&path)?;
    Ok(path)
}

/// Decodes escapes of unreserved characters, upper-cases the digits of all others and refuses dangerous ones.
fn rewrite_escapes(raw: &str) -> Result<String, PathError> {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let digits = rest.as_bytes().get(at + 1..at + 3);
        let Some(octet) = digits.and_then(decode_hex) else {
            return Err(PathError::Escape);
        };
        match octet {
            b'/' => return Err(PathError::EncodedSlash),
            b'\\' => return Err(PathError::Backslash),
            0..=0x1f | 0x7f => return Err(PathError::Control),
            b if is_unreserved(b) => out.push(char::from(b)),
            b => {
                const HEX: &[u8; 16] = b"0123456789ABCDEF";
                out.push('%');
                out.push(char::from(HEX[usize::from(b >> 4)]));
                out.push(char::from(HEX[usize::from(b & 15)]));
            }
        }
        rest = &rest[at + 3..];
    }
    out.push_str(rest);
    Ok(out)
}

fn decode_hex(digits: &[u8]) -> Option<u8> {
    let digit = |b: u8| char::from(b).to_digit(16);
    u8::try_from(digit(digits[0])? * 16 + digit(digits[1])?).ok()
}

fn is_unreserved(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~')
}

/// Accepts RFC 3986 `pchar`, `/` and the escapes that [`rewrite_escapes`] has checked.
fn check_characters(path: &str) -> Result<(), PathError> {
    match path.bytes().find(|&b| !is_path_octet(b)) {
        None => Ok(()),
        Some(b'\\') => Err(PathError::Backslash),
        Some(b) if b.is_ascii_control() => Err(PathError::Control),
        Some(_) => Err(PathError::Character),
    }
}

fn is_path_octet(b: u8) -> bool {
    is_unreserved(b)
        || matches!(
            b,
            b'/' | b'%'
                | b'!'
                | b'$'
                | b'&'
                | b'\''
                | b'('
                | b')'
                | b'*'
                | b'+'
                | b','
                | b';'
                | b'='
                | b':'
                | b'@'
        )
}

fn check_segments(path: &str) -> Result<(), PathError> {
    if path.contains("//") {
        return Err(PathError::EmptySegment);
    }
    let is_dot = |segment: &str| {
        let name = segment.split(';').next().unwrap_or(segment);
        name == "." || name == ".."
    };
    // A dot segment begins with a dot, which is rare: look closer only then.
    if path.contains("/.") && path.split('/').any(is_dot) {
        return Err(PathError::DotSegment);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use PathError::*;

    #[test]
    fn one_spelling_per_path_and_every_trick_refused() {
        let check = |raw: &str, expected: Result<&str, PathError>| {
            let actual = normalise(raw);
            assert_eq!(actual.as_deref().map_err(|e| *e), expected, "{raw:?}");
        };
        check("/", Ok("/"));
        check("/a/b", Ok("/a/b"));
        check("/a/", Ok("/a/"));
        check("/%61dmin", Ok("/admin"));
        check("/%7Euser", Ok("/~user"));
        check("/a%2db", Ok("/a-b"));
        check("/caf%c3%a9", Ok("/caf%C3%A9"));
        check("/a%20b", Ok("/a%20b"));
        check("/a%3fb", Ok("/a%3Fb"));
        check("/a%25b", Ok("/a%25b"));
        check("/%2561", Ok("/%2561")); // encoded percent stays encoded: no double decoding
        check("/a;v=1/b", Ok("/a;v=1/b"));
        check("/a:b@c", Ok("/a:b@c"));
        check("/.well-known/x", Ok("/.well-known/x"));
        check("/...", Ok("/..."));
        check("/a..b", Ok("/a..b"));
        check("", Err(NotAbsolute));
        check("a", Err(NotAbsolute));
        check("*", Err(NotAbsolute));
        check("/a%2Fb", Err(EncodedSlash));
        check("/a%2fb", Err(EncodedSlash));
        check("/a%5Cb", Err(Backslash));
        check("/a%5cb", Err(Backslash));
        check("/a\\b", Err(Backslash));
        check("/..", Err(DotSegment));
        check("/.", Err(DotSegment));
        check("/a/../b", Err(DotSegment));
        check("/a/./b", Err(DotSegment));
        check("/a/..", Err(DotSegment));
        check("/a/%2e%2e/b", Err(DotSegment));
        check("/a/.%2E/b", Err(DotSegment));
        check("/a/%2e", Err(DotSegment));
        check("/a/..;/b", Err(DotSegment));
        check("/a/..;x=1/b", Err(DotSegment));
        check("/a/.;/b", Err(DotSegment));
        check("//", Err(EmptySegment));
        check("//a", Err(EmptySegment));
        check("/a//b", Err(EmptySegment));
        check("/a//", Err(EmptySegment));
        check("/a%", Err(Escape));
        check("/a%2", Err(Escape));
        check("/a%zz", Err(Escape));
        check("/a%u002f", Err(Escape));
        check("/a%é", Err(Escape));
        check("/a%00", Err(Control));
        check("/a%0d%0aX:1", Err(Control));
        check("/a%7f", Err(Control));
        check("/a\tb", Err(Control));
        check("/a b", Err(Character));
        check("/a#b", Err(Character));
        check("/é", Err(Character));
        check("/a|b", Err(Character));
    }

    proptest::proptest! {
        #[test]
        fn normalising_twice_changes_nothing(raw in "/[a-c./%;2eEfF5c~é]{0,24}") {
            if let Ok(once) = normalise(&raw) {
                let twice = normalise(&once);
                proptest::prop_assert_eq!(twice.as_deref(), Ok(&*once));
            }
        }
    }
}
