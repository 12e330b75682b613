//! Where we differ from hyper on purpose: each rule carries the name of its case in `docs/strictness.md`.
//!
//! A rule looks at the bytes or at what hyper made of them, never at our own parser's opinion: a refusal without a reason that can
//! be seen from outside is a finding.

use crate::story::Message;
use plimsoll_http::{Limits, ProtocolError};
use std::net::Ipv6Addr;

/// Something that hyper took and we refused.
pub(crate) struct Stricter<'a> {
    /// The input from the refused head or, inside a body, from the refused piece on.
    pub(crate) rest: &'a [u8],
    pub(crate) limits: &'a Limits,
    pub(crate) their: &'a Message,
}

/// Something that we took and hyper refused.
pub(crate) struct Looser<'a> {
    /// hyper's error.
    pub(crate) error: &'a str,
    pub(crate) our: &'a Message,
}

/// Why we refuse more.
pub(crate) struct StricterRule {
    pub(crate) case: &'static str,
    pub(crate) error: ProtocolError,
    pub(crate) holds: fn(&Stricter) -> bool,
}

/// Why we take more.
pub(crate) struct LooserRule {
    pub(crate) case: &'static str,
    pub(crate) holds: fn(&Looser) -> bool,
}

const fn rule(
    case: &'static str,
    error: ProtocolError,
    holds: fn(&Stricter) -> bool,
) -> StricterRule {
    StricterRule { case, error, holds }
}

pub(crate) const STRICTER: &[StricterRule] = &[
    rule(
        "a line ended by LF alone",
        ProtocolError::BareLineFeed,
        has_bare_line_feed,
    ),
    rule(
        "two empty lines before the request",
        ProtocolError::RequestLine,
        |refusal| refusal.rest.starts_with(b"\r\n\r\n"),
    ),
    rule("a byte beyond ASCII", ProtocolError::Target, |refusal| {
        !target(refusal.rest).is_ascii()
    }),
    rule("a fragment", ProtocolError::Target, |refusal| {
        target(refusal.rest).contains(&b'#')
    }),
    rule("an asterisk with GET", ProtocolError::Target, |refusal| {
        target(refusal.rest) == b"*" && refusal.their.start.method != "OPTIONS"
    }),
    rule("no slash at the start", ProtocolError::Target, |refusal| {
        let target = target(refusal.rest);
        !target.starts_with(b"/") && !target.windows(3).any(|window| window == b"://")
    }),
    rule(
        "an absolute target of another scheme",
        ProtocolError::Target,
        |refusal| {
            let target = target(refusal.rest).to_ascii_lowercase();
            let known = target.starts_with(b"http://") || target.starts_with(b"https://");
            !target.starts_with(b"/") && !known
        },
    ),
    rule(
        "an absolute target with user information",
        ProtocolError::Target,
        |refusal| {
            let authority = &refusal.their.start.authority;
            !authority.is_empty() && !is_authority(authority.as_bytes())
        },
    ),
    rule("CONNECT without a port", ProtocolError::Target, |refusal| {
        let start = &refusal.their.start;
        let port = start
            .authority
            .rsplit_once(':')
            .map_or("", |(_, port)| port);
        start.method == "CONNECT" && (port.is_empty() || target(refusal.rest).contains(&b'/'))
    }),
    rule("missing", ProtocolError::Host, |refusal| {
        refusal.their.start.version == 1 && hosts(refusal.their).is_empty()
    }),
    rule("repeated", ProtocolError::Host, |refusal| {
        hosts(refusal.their).len() > 1
    }),
    rule("with a path", ProtocolError::Host, |refusal| {
        hosts(refusal.their).iter().any(|host| !is_authority(host))
    }),
    rule(
        "an absolute target that names another host",
        ProtocolError::Host,
        |refusal| {
            let authority = refusal.their.start.authority.as_bytes();
            let other = |host: &Vec<u8>| !host.eq_ignore_ascii_case(authority);
            !authority.is_empty() && hosts(refusal.their).iter().any(other)
        },
    ),
    rule(
        "two that are the same",
        ProtocolError::ContentLength,
        |refusal| lines_named(refusal.rest, "content-length").len() > 1,
    ),
    rule(
        "a list of the same",
        ProtocolError::ContentLength,
        |refusal| {
            let values = lines_named(refusal.rest, "content-length");
            values.iter().any(|value| value.contains(&b','))
        },
    ),
    rule(
        "an empty line before the status line",
        ProtocolError::StatusLine,
        |refusal| refusal.rest.starts_with(b"\r\n"),
    ),
    rule(
        "Transfer-Encoding before Content-Length",
        ProtocolError::ContentLength,
        has_both_lengths,
    ),
    rule(
        "204 with a length that is no number",
        ProtocolError::ContentLength,
        |refusal| {
            let values = lines_named(refusal.rest, "content-length");
            let is_number = |value: &[u8]| value.iter().all(u8::is_ascii_digit);
            has_no_body(refusal) && values.iter().any(|v| v.is_empty() || !is_number(v))
        },
    ),
    rule(
        "chunked in HTTP/1.0",
        ProtocolError::TransferEncoding,
        |refusal| has_no_body(refusal) && refusal.their.start.version == 0,
    ),
    rule(
        "chunked on two lines",
        ProtocolError::TransferEncoding,
        |refusal| lines_named(refusal.rest, "transfer-encoding").len() > 1,
    ),
    rule(
        "gzip, then chunked",
        ProtocolError::TransferEncoding,
        |refusal| {
            let values = lines_named(refusal.rest, "transfer-encoding");
            values
                .iter()
                .any(|value| !value.eq_ignore_ascii_case(b"chunked"))
        },
    ),
    rule(
        "both on a GET",
        ProtocolError::AmbiguousLength,
        has_both_lengths,
    ),
    rule(
        "an unknown expectation",
        ProtocolError::Expectation,
        |refusal| {
            let values = lines_named(refusal.rest, "expect");
            values
                .iter()
                .any(|value| !value.eq_ignore_ascii_case(b"100-continue"))
        },
    ),
    rule(
        "a target of 9,000 bytes",
        ProtocolError::TargetTooLong,
        |refusal| target(refusal.rest).len() > refusal.limits.target_bytes,
    ),
    rule(
        "a field of 40,000 bytes",
        ProtocolError::HeadTooLarge,
        |refusal| head(refusal.rest).len() > refusal.limits.head_bytes,
    ),
    rule(
        "two hundred fields",
        ProtocolError::HeadTooLarge,
        |refusal| {
            let count = |line: &[u8]| line.contains(&b':');
            let fields = head(refusal.rest)
                .split(|byte| *byte == b'\n')
                .filter(|line| count(line));
            fields.count() > refusal.limits.fields
        },
    ),
    rule(
        "larger than the limit",
        ProtocolError::BodyTooLarge,
        |refusal| {
            let limit = refusal.limits.body_bytes.into();
            // In the middle of a body, what looks like a head is data.
            announced_length(refusal.rest) > Some(limit) || refusal.their.body.len() as u128 > limit
        },
    ),
    rule(
        "larger than the limit",
        ProtocolError::ContentLength,
        |refusal| announced_length(refusal.rest) > Some(refusal.limits.body_bytes.into()),
    ),
    rule(
        "a hundred digits, all but one of them zeros",
        ProtocolError::ContentLength,
        |refusal| {
            let values = lines_named(refusal.rest, "content-length");
            values.iter().any(|value| value.len() > 18)
        },
    ),
    rule(
        "a size of a hundred digits, all but one of them zeros",
        ProtocolError::ChunkSize,
        |refusal| chunk_size_line(refusal.rest).0.len() > 15,
    ),
    rule(
        "trailers beyond the limit",
        ProtocolError::HeadTooLarge,
        |refusal| {
            let trailers = refusal.rest;
            trailers.len() > refusal.limits.trailer_bytes
        },
    ),
    rule(
        "a space behind the size",
        ProtocolError::ChunkSize,
        |refusal| {
            chunk_extension(refusal.rest).trim_ascii().is_empty()
                && !chunk_extension(refusal.rest).is_empty()
        },
    ),
    rule(
        "an extension without a name",
        ProtocolError::ChunkSize,
        |refusal| !is_extension(chunk_extension(refusal.rest)),
    ),
    rule(
        "an extension of 9,000 bytes",
        ProtocolError::ChunkSize,
        |refusal| chunk_extension(refusal.rest).len() > 200,
    ),
    rule(
        "Content-Length as a trailer",
        ProtocolError::Trailer,
        |refusal| {
            let forbidden = [
                "authorization",
                "connection",
                "content-length",
                "host",
                "trailer",
                "transfer-encoding",
            ];
            let names = &refusal.their.trailers;
            forbidden.iter().any(|name| names.contains_key(*name))
        },
    ),
];

pub(crate) const TAKEN_BY_US_ONLY: &[LooserRule] = &[
    LooserRule {
        case: "characters that must be encoded",
        holds: |acceptance| {
            let start = &acceptance.our.start;
            let text = format!("{}?{}", start.path, start.query.as_deref().unwrap_or(""));
            acceptance.error.contains("Uri")
                && text.contains(['<', '>', '"', '^', '`', '{', '|', '}', '\\'])
        },
    },
    LooserRule {
        case: "an absolute target with a percent-encoded host",
        holds: |acceptance| {
            let authority = acceptance.our.start.authority.as_bytes();
            acceptance.error.contains("Uri") && authority.contains(&b'%') && is_authority(authority)
        },
    },
];

fn has_bare_line_feed(refusal: &Stricter) -> bool {
    let rest = refusal.rest;
    let is_bare = |at: usize| rest[at] == b'\n' && (at == 0 || rest[at - 1] != b'\r');
    (0..rest.len()).any(is_bare)
}

/// Whether hyper saw a response without looking at the fields that frame its body.
fn has_no_body(refusal: &Stricter) -> bool {
    let their = refusal.their;
    their.start.status >= 100 && their.body.is_empty() && their.complete
}

fn has_both_lengths(refusal: &Stricter) -> bool {
    let both = ["transfer-encoding", "content-length"];
    both.iter()
        .all(|name| !lines_named(refusal.rest, name).is_empty())
}

/// A head with its end, as hyper finds it.
fn head(rest: &[u8]) -> &[u8] {
    let end = rest.windows(4).position(|window| window == b"\r\n\r\n");
    &rest[..end.map_or(rest.len(), |end| end + 4)]
}

/// The bytes between the first and the last space of the first line that is not empty.
fn target(rest: &[u8]) -> &[u8] {
    let lines = rest.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let line = lines
        .into_iter()
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    words.nth(1).unwrap_or_default()
}

fn hosts(message: &Message) -> &[Vec<u8>] {
    message.fields.get("host").map_or(&[], Vec::as_slice)
}

/// The values of the fields of a name in the head at the start of `rest`.
fn lines_named<'a>(rest: &'a [u8], name: &str) -> Vec<&'a [u8]> {
    let lines = head(rest).split(|byte| *byte == b'\n');
    let fields = lines.filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (own, value) = line.split_at(colon);
        own.eq_ignore_ascii_case(name.as_bytes())
            .then(|| value[1..].trim_ascii())
    });
    fields.collect()
}

/// The value of the only `Content-Length` in the head at the start of `rest`.
fn announced_length(rest: &[u8]) -> Option<u128> {
    match lines_named(rest, "content-length")[..] {
        [value] => str::from_utf8(value).ok()?.parse().ok(),
        _ => None,
    }
}

/// `host [":" port]` by way of the URI parser that hyper uses, plus what that parser lets pass.
fn is_authority(text: &[u8]) -> bool {
    let Ok(authority) = hyper::http::uri::Authority::try_from(text) else {
        // It takes no percent-encoding in a host, which is allowed.
        return text.contains(&b'%') && is_authority(&without_percent_encoding(text));
    };
    let host = authority.host();
    let address = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let has_brackets = host.contains(['[', ']']);
    let host_is_good = match address {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && !has_brackets,
    };
    let port = &authority.as_str()[host.len().min(authority.as_str().len())..];
    let port_is_good = match port.strip_prefix(':') {
        None => port.is_empty(),
        Some("") => true,
        Some(digits) => {
            digits.len() <= 5 && digits.parse::<u16>().is_ok() && !digits.starts_with('+')
        }
    };
    host_is_good && port_is_good && !authority.as_str().contains(['@', ','])
}

/// Every `%` and two digits replaced by a letter; a `%` without them stays.
fn without_percent_encoding(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .filter(|two| two.iter().all(u8::is_ascii_hexdigit));
        if *first == b'%' && digits.is_some() {
            out.push(b'x');
            rest = &after[2..];
        } else {
            out.push(if *first == b'%' { b'@' } else { *first });
            rest = after;
        }
    }
    out
}

/// The chunk-size line at the start of `rest`, with or without the end of the data before it: its digits, and what follows them.
fn chunk_size_line(rest: &[u8]) -> (&[u8], &[u8]) {
    let rest = rest.strip_prefix(b"\r\n").unwrap_or(rest);
    let end = rest.windows(2).position(|window| window == b"\r\n");
    let line = &rest[..end.unwrap_or(rest.len())];
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit());
    line.split_at(digits.count())
}

fn chunk_extension(rest: &[u8]) -> &[u8] {
    chunk_size_line(rest).1
}

/// RFC 9112, section 7.1.1, by splitting: every piece behind a `;` is a name, or a name and a value.
fn is_extension(text: &[u8]) -> bool {
    let Some(plain) = with_quotes_replaced(text) else {
        return false;
    };
    let mut pieces = plain.split(';');
    let nothing_before = pieces
        .next()
        .is_some_and(|first| first.trim_matches([' ', '\t']).is_empty());
    let ends_in_blank = plain.ends_with([' ', '\t']);
    let is_token = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c))
    };
    nothing_before
        && !ends_in_blank
        && pieces.all(|piece| match piece.split_once('=') {
            None => is_token(piece.trim_matches([' ', '\t'])),
            Some((name, value)) => {
                let value = value.trim_matches([' ', '\t']);
                is_token(name.trim_matches([' ', '\t'])) && (is_token(value) || value == "\"")
            }
        })
}

/// Every quoted string replaced by one quote; `None` if one does not end or has a control byte.
fn with_quotes_replaced(text: &[u8]) -> Option<String> {
    let mut out = String::new();
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        out.push(char::from(*byte));
        if *byte != b'"' {
            continue;
        }
        loop {
            match bytes.next()? {
                b'"' => break,
                b'\\' => drop(
                    bytes
                        .next()
                        .filter(|b| !b.is_ascii_control() || **b == b'\t')?,
                ),
                b'\t' => {}
                other if other.is_ascii_control() => return None,
                _ => {}
            }
        }
    }
    Some(out)
}

/// The name of the case in which [`asks_beyond_ascii`] for the end of the connection.
pub(crate) const CLOSES_BEYOND_ASCII: &str = "close beside an option beyond ASCII";

/// The name of the case in which [`asks_beyond_ascii`] HTTP/1.0 to go on.
pub(crate) const KEEPS_ALIVE_BEYOND_ASCII: &str = "keep-alive beside an option beyond ASCII";

/// Whether a message has a connection option in a `Connection` with bytes beyond ASCII: hyper reads nothing of such a value, we honour the
/// options that can be read (RFC 9110, section 5.5, has the bytes as opaque data).
pub(crate) fn asks_beyond_ascii(message: &Message, wanted: &str) -> bool {
    let values = message.fields.get("connection").into_iter().flatten();
    let is_wanted = |option: &[u8]| option.trim_ascii().eq_ignore_ascii_case(wanted.as_bytes());
    let mut odd = values.filter(|value| !value.is_ascii());
    odd.any(|value| value.split(|byte| *byte == b',').any(is_wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_a_case_of_the_document() {
        let document = include_str!("../../docs/strictness.md");
        let stricter = STRICTER.iter().map(|rule| rule.case);
        let looser = TAKEN_BY_US_ONLY.iter().map(|rule| rule.case);
        for case in stricter
            .chain(looser)
            .chain([CLOSES_BEYOND_ASCII, KEEPS_ALIVE_BEYOND_ASCII])
        {
            assert!(document.contains(&format!("| {case} |")), "{case}");
        }
    }
}
