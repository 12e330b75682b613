//! TLS to upstreams in Tyk's files: whether servers are verified, and which versions are offered.

use plimsoll_http::tls::TlsVersion;

/// Settings of `tyk.conf` for every API, or of a definition of its own; a setting that one lacks is the other's.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TlsWords {
    /// Nobody verifies who an upstream is. Saying so anywhere is enough.
    pub(super) insecure: bool,
    pub(super) oldest: Option<TlsVersion>,
    pub(super) newest: Option<TlsVersion>,
}

/// A version of TLS as Go numbers it; 0 says nothing.
pub(super) fn version(number: Option<u16>) -> Result<Option<TlsVersion>, &'static str> {
    match number {
        None | Some(0) => Ok(None),
        Some(0x0303) => Ok(Some(TlsVersion::Tls12)),
        Some(0x0304) => Ok(Some(TlsVersion::Tls13)),
        Some(_) => {
            Err("TLS 1.2 and 1.3 alone are spoken: write `771` or `772`, or leave it out for both")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_are_spoken_are_read() {
        let check = |number, expected| assert_eq!(version(number).ok(), expected, "{number:?}");
        check(None, Some(None));
        check(Some(0), Some(None));
        check(Some(771), Some(Some(TlsVersion::Tls12)));
        check(Some(772), Some(Some(TlsVersion::Tls13)));
        for number in [1, 768, 769, 770, 773] {
            check(Some(number), None);
        }
    }
}
