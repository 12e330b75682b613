//! An address of the web: where to connect, and what to ask for there.

/// A URL with a host. Credentials in it are refused, so that they stand in no record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// `http` or `https`.
    pub scheme: &'static str,
    /// A name or an address; an IPv6 address without its brackets.
    pub host: String,
    /// As written, or the scheme's own.
    pub port: u16,
    /// Host and port as written: what the `Host` field holds.
    pub authority: String,
    /// Path and query: the request target.
    pub target: String,
}

impl Url {
    /// Takes a URL apart. A fragment is the browser's own and never sent.
    ///
    /// # Errors
    /// The missing or wrong part, and what to write instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let malformed = || format!("`{text}` is not a URL: write `http://host:port/path`");
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| format!("`{text}` has no scheme: write `http://{text}`"))?;
        let (scheme, default_port) = match scheme.to_ascii_lowercase().as_str() {
            "http" => ("http", 80),
            "https" => ("https", 443),
            other => {
                return Err(format!(
                    "`{text}`: `{other}://` is not available: write `http://` or `https://`"
                ));
            }
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(format!(
                "`{scheme}://…@…` has credentials in it: write an `Authorization` header instead"
            ));
        }
        let (host, port) = host_and_port(authority).ok_or_else(|| match authority {
            "" => format!("`{text}` has no host: write `{scheme}://host:port/path`"),
            _ => malformed(),
        })?;
        let port = port.map(|port| number(port, text)).transpose()?;
        let slash = if target.starts_with('/') { "" } else { "/" };
        Ok(Self {
            scheme,
            host: host.to_owned(),
            port: port.unwrap_or(default_port),
            authority: authority.to_owned(),
            target: format!("{slash}{target}"),
        })
    }

    /// Scheme and authority.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }

    /// The request target without its query: what may stand in records, since queries hold tokens.
    #[must_use]
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or(&self.target)
    }
}

/// A port as written.
fn number(port: &str, text: &str) -> Result<u16, String> {
    let given = match port {
        "" => "has no port after its `:`".to_owned(),
        _ => format!("has no port `{port}`"),
    };
    let number = port.parse().ok().filter(|port| *port > 0);
    number.ok_or_else(|| format!("`{text}` {given}: write 1 to 65535, or leave the `:` out"))
}

/// Both as written.
fn host_and_port(authority: &str) -> Option<(&str, Option<&str>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(bracketed) => {
            let (host, after) = bracketed.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            match after {
                "" => (host, None),
                _ => (host, Some(after.strip_prefix(':')?)),
            }
        }
        None => authority
            .split_once(':')
            .map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
    (!host.is_empty() && host.chars().all(allowed)).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let check = |text: &str, origin: &str, host: &str, port: u16, target: &str| {
            let url = Url::parse(text).unwrap();
            assert_eq!(
                (
                    url.origin().as_str(),
                    url.host.as_str(),
                    url.port,
                    url.target.as_str()
                ),
                (origin, host, port, target),
                "{text}"
            );
        };
        check("http://a", "http://a", "a", 80, "/");
        check("HTTPS://a:80/b/c?d=e", "https://a:80", "a", 80, "/b/c?d=e");
        check("https://a?b=/c#d", "https://a", "a", 443, "/?b=/c");
        check("http://[::1]:9/x", "http://[::1]:9", "::1", 9, "/x");
    }

    #[test]
    fn what_is_wrong_with_a_url_is_said() {
        let wrong = [
            "a:80/b",
            "ftp://a/",
            "http://",
            "http://a:0",
            "http://a:x",
            "http://a:/b",
            "http://a:65536",
            "http://u:p@a/",
            "http://[x]/",
            "http://a b/",
        ];
        let messages: Vec<String> = wrong
            .iter()
            .map(|text| Url::parse(text).unwrap_err())
            .collect();
        let expected = [
            "`a:80/b` has no scheme: write `http://a:80/b`",
            "`ftp://a/`: `ftp://` is not available: write `http://` or `https://`",
            "`http://` has no host: write `http://host:port/path`",
            "`http://a:0` has no port `0`: write 1 to 65535, or leave the `:` out",
            "`http://a:x` has no port `x`: write 1 to 65535, or leave the `:` out",
            "`http://a:/b` has no port after its `:`: write 1 to 65535, or leave the `:` out",
            "`http://a:65536` has no port `65536`: write 1 to 65535, or leave the `:` out",
            "`http://…@…` has credentials in it: write an `Authorization` header instead",
            "`http://[x]/` is not a URL: write `http://host:port/path`",
            "`http://a b/` is not a URL: write `http://host:port/path`",
        ];
        assert_eq!(messages, expected);
    }
}
