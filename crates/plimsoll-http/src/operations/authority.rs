//! The name in a `Host` field: the host of an authority, and whether it is this machine's loopback.
//!
//! A server on loopback that answers other names lets web pages reach it by rebinding a name of theirs.

use std::net::IpAddr;

/// The host of `host`, `host:port` or `[address]:port`, brackets kept.
#[must_use]
pub fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// The address that an authority names, if it names one.
#[must_use]
pub fn address_of(authority: &str) -> Option<IpAddr> {
    let host = host_of(authority);
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    bare.unwrap_or(host).parse().ok()
}

/// Whether it is `localhost` or an address of the loopback interface.
#[must_use]
pub fn names_loopback(authority: &str) -> bool {
    host_of(authority).eq_ignore_ascii_case("localhost")
        || address_of(authority).is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_loopback() {
        for (authority, expected) in [
            ("localhost", true),
            ("LOCALHOST:9090", true),
            ("127.0.0.1:9090", true),
            ("127.1.2.3", true),
            ("[::1]:9090", true),
            ("[::1]", true),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("192.168.0.1:9090", false),
            ("[::1", false),
            ("", false),
        ] {
            assert_eq!(names_loopback(authority), expected, "{authority:?}");
        }
    }

    #[test]
    fn a_host_is_an_authority_without_its_port() {
        for (authority, host, address) in [
            ("example.com:80", "example.com", None),
            ("example.com", "example.com", None),
            ("192.0.2.1:80", "192.0.2.1", Some("192.0.2.1")),
            ("[2001:db8::1]:80", "[2001:db8::1]", Some("2001:db8::1")),
        ] {
            assert_eq!(host_of(authority), host);
            let address = address.map(|text: &str| text.parse().unwrap());
            assert_eq!(address_of(authority), address, "{authority}");
        }
    }
}
