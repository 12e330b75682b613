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

/// Where a redirect leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A target of the same origin.
    Here(Vec<u8>),
    /// Another origin, which this load is not for.
    Elsewhere,
}

/// Resolves a `Location` against the target that was asked for (RFC 3986, section 5.2), as far as it is for `authority`.
pub(crate) fn resolve(authority: &str, asked: &[u8], location: &[u8]) -> Destination {
    let location = location
        .split(|byte| *byte == b'#')
        .next()
        .unwrap_or_default();
    let after_scheme = [&b"http://"[..], b"https://"].iter().find_map(|scheme| {
        let head = location.get(..scheme.len())?;
        head.eq_ignore_ascii_case(scheme)
            .then(|| &location[scheme.len()..])
    });
    if let Some(rest) = after_scheme.or_else(|| location.strip_prefix(b"//")) {
        let end = rest
            .iter()
            .position(|byte| matches!(byte, b'/' | b'?'))
            .unwrap_or(rest.len());
        let (host, target) = rest.split_at(end);
        if !host.eq_ignore_ascii_case(authority.as_bytes()) {
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

    #[test]
    fn locations_are_resolved() {
        let check = |location: &str, expected: &str| {
            let shown = match resolve("h:80", b"/a/b?c=d", location.as_bytes()) {
                Destination::Here(target) => String::from_utf8(target).unwrap(),
                Destination::Elsewhere => "elsewhere".to_owned(),
            };
            assert_eq!(shown, expected, "{location}");
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
}
