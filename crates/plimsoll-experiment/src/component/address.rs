//! Addresses of servers that run already: `http://host:port`, or `https://`; `tcp://` where no load goes to them.

/// Where a server is, and how it is spoken to.
pub(super) struct Address {
    pub(super) scheme: Scheme,
    /// The host's name or address; an IPv6 address without its brackets.
    pub(super) host: String,
    pub(super) port: u16,
}

/// How a server that runs already is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP in plaintext.
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

/// `host:port`, an IPv6 address in brackets.
pub(super) fn authority(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

/// An address as a URL without a path.
pub(super) fn parse(url: &str) -> Result<Address, String> {
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
    Ok(Address {
        scheme,
        host: host.to_owned(),
        port,
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
            let address = parse(url).unwrap();
            assert_eq!(authority(&address.host, address.port), expected);
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
