//! Servers that run already: `external: http://host:port`, or `https://`; `tcp://` where no load goes to them.

use plimsoll_base::document::Path as Pointer;

use super::probe::{self, ExternalProbe};
use crate::experiment::loader::Loader;
use crate::experiment::wire::ComponentWire;

/// A server that runs already. The lab does not start or stop it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct External {
    /// How it is spoken to.
    pub scheme: Scheme,
    /// The host's name or address; an IPv6 address without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// How its resources are watched.
    pub probe: ExternalProbe,
}

/// How a server that runs already is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP in clear.
    Http,
    /// HTTP over TLS.
    Https,
    /// Not by loads: a database, for instance, that is only looked at.
    Tcp,
}

impl Scheme {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Tcp => "tcp",
        }
    }
}

impl External {
    /// `http://host:port`, `https://` or `tcp://`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme.name(), self.authority())
    }

    /// `host:port`, an IPv6 address in brackets.
    #[must_use]
    pub fn authority(&self) -> String {
        authority(&self.host, self.port)
    }

    /// Whether it is on this machine as far as its name tells.
    pub(in crate::experiment) fn is_local(&self) -> bool {
        self.host == "localhost"
            || self
                .host
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }
}

/// `host:port`, an IPv6 address in brackets.
pub(super) fn authority(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    name: &str,
    url: &str,
    wire: &ComponentWire,
    at: &Pointer,
) -> External {
    let external = parse(url).unwrap_or_else(|message| {
        loader.refuse(at.key("external"), message);
        External {
            scheme: Scheme::Http,
            host: String::new(),
            port: 0,
            probe: ExternalProbe::None,
        }
    });
    External {
        probe: probe::convert(loader, name, wire.probe.as_ref(), &at.key("probe")),
        ..external
    }
}

/// An address without a probe.
pub(super) fn parse(url: &str) -> Result<External, String> {
    let malformed = || {
        format!(
            "`{url}` is not an address: write `http://host:port`, or `https://`; `tcp://host:port` where no load goes"
        )
    };
    let schemes = [Scheme::Http, Scheme::Https, Scheme::Tcp].into_iter();
    let (scheme, rest) = schemes
        .filter_map(|scheme| Some((scheme, url.strip_prefix(scheme.name())?)))
        .find_map(|(scheme, rest)| Some((scheme, rest.strip_prefix("://")?)))
        .ok_or_else(malformed)?;
    let authority = rest.strip_suffix('/').unwrap_or(rest);
    if authority.contains('/') {
        return Err(format!(
            "`{url}` has a path: write `http://host:port`, and the path in each step"
        ));
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(bracketed) => {
            let (host, after) = bracketed.split_once(']').ok_or_else(malformed)?;
            host.parse::<std::net::Ipv6Addr>()
                .map_err(|_| malformed())?;
            (
                host,
                if after.is_empty() {
                    None
                } else {
                    Some(after.strip_prefix(':').ok_or_else(malformed)?)
                },
            )
        }
        None => authority
            .split_once(':')
            .map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let port = match (port, scheme) {
        (None, Scheme::Http) => 80,
        (None, Scheme::Https) => 443,
        (None, Scheme::Tcp) => return Err(malformed()),
        (Some(text), _) => text
            .parse()
            .ok()
            .filter(|port| *port > 0)
            .ok_or_else(malformed)?,
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
    if host.is_empty() || !host.chars().all(allowed) {
        return Err(malformed());
    }
    Ok(External {
        scheme,
        host: host.to_owned(),
        port,
        probe: ExternalProbe::None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (url, expected) in [
            ("http://localhost:8080", "localhost:8080"),
            ("http://staging.example.com/", "staging.example.com:80"),
            ("http://[::1]:9000", "[::1]:9000"),
            ("http://[::1]", "[::1]:80"),
            ("https://a", "a:443"),
            ("https://a:8443/", "a:8443"),
            ("tcp://db:5432", "db:5432"),
        ] {
            assert_eq!(parse(url).unwrap().authority(), expected);
        }
        for bad in [
            "localhost:80",
            "https://",
            "ftp://a",
            "http://",
            "http://a:0",
            "http://a:x",
            "http://a/b",
            "http://a b",
            "http://u@a",
            "http://[x]",
            "tcp://db",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
