//! Where an endpoint listens: a port alone means loopback.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Parses `9464`, `:9464`, `127.0.0.1:9464` or `[::1]:9464`.
pub(super) fn parse(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text).parse::<u16>();
    if let Ok(port) = port {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse().map_err(|_| {
        "write a port, such as `9464`, or an address with a port, such as `0.0.0.0:9464`".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_on_loopback() {
        for (text, expected) in [
            ("9464", Some("127.0.0.1:9464")),
            (":0", Some("127.0.0.1:0")),
            ("0.0.0.0:1", Some("0.0.0.0:1")),
            ("[::1]:80", Some("[::1]:80")),
            ("localhost:80", None),
            ("99999", None),
            ("", None),
        ] {
            let actual = parse(text).ok().map(|address| address.to_string());
            assert_eq!(actual.as_deref(), expected, "{text}");
        }
    }
}
