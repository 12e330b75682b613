//! Fields that belong to one connection and are not forwarded (RFC 9110 §7.6.1).
//!
//! Which other fields pass, and which are added, is left to whoever forwards.

use crate::codec::fields::{self, Fields};

/// How many fields may be declared to belong to the connection. Every field is compared with every one of them.
const MAX_OPTIONS: usize = 32;

/// Fields of one hop, in lower case. Framing fields are among them, because framing is made anew.
const FIELDS: [&str; 10] = [
    "te",
    "upgrade",
    "connection",
    "keep-alive",
    "content-length",
    "proxy-connection",
    "transfer-encoding",
    "proxy-authenticate",
    "proxy-authorization",
    "http2-settings",
];

/// Whether a field of this name belongs to one connection; in any case of letters.
#[must_use]
pub fn is_hop_by_hop(name: &str) -> bool {
    FIELDS.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// The fields that the `Connection` lines of a head name, all lines together.
#[derive(Debug)]
pub struct ConnectionOptions<'a>(Vec<&'a [u8]>);

impl<'a> ConnectionOptions<'a> {
    /// Reads every `Connection` line of `fields`.
    #[must_use]
    pub fn of(fields: &'a Fields) -> Self {
        let plain = |option: &[u8]| {
            option.eq_ignore_ascii_case(b"close") || option.eq_ignore_ascii_case(b"keep-alive")
        };
        // Collecting nothing, the common case, allocates nothing.
        Self(
            fields::list(fields, "connection")
                .filter(|option| !plain(option))
                .take(MAX_OPTIONS + 1)
                .collect(),
        )
    }

    /// Whether there are more than are looked at (32), so that not all of them are known here.
    #[must_use]
    pub fn are_too_many(&self) -> bool {
        self.0.len() > MAX_OPTIONS
    }

    /// Whether the field `name` was declared to belong to the connection only.
    #[must_use]
    pub fn name(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|option| option.eq_ignore_ascii_case(name.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_in_any_case() {
        for (name, expected) in [
            ("Transfer-Encoding", true),
            ("KEEP-ALIVE", true),
            ("upgrade", true),
            ("X-Keep-Alive", false),
            ("Trailer", false),
        ] {
            assert_eq!(is_hop_by_hop(name), expected, "{name}");
        }
    }
}
