//! Where metrics are pushed to: a URL whose path is OTLP's own unless one is written.

use std::fmt;

/// OTLP's path for metrics (OpenTelemetry Protocol specification, "OTLP/HTTP Request").
const PATH: &str = "/v1/metrics";
/// OTLP's port over HTTP.
const PORT: u16 = 4318;

/// A collector's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Host and port.
    authority: String,
    path: String,
}

impl Endpoint {
    /// Parses `http://host`, `http://host:port` or `http://host:port/path`.
    ///
    /// # Errors
    /// A sentence that says what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        let example = "write for instance `http://127.0.0.1:4318`";
        if text.starts_with("https://") {
            return Err("https is not available in this version: send to a collector on this host over http, and let it go on from there".to_owned());
        }
        let rest = text.strip_prefix("http://").ok_or(example)?;
        let (authority, path) = match rest.find('/') {
            Some(at) => (&rest[..at], &rest[at..]),
            None => (rest, "/"),
        };
        let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_graphic());
        let refused = authority.is_empty()
            || authority.contains(['@', '?', '#'])
            || path.contains('#')
            || !is_plain(authority)
            || !is_plain(path);
        if refused {
            return Err(example.to_owned());
        }
        let has_port = authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        Ok(Self {
            authority: if has_port {
                authority.to_owned()
            } else {
                format!("{authority}:{PORT}")
            },
            path: if path == "/" { PATH } else { path }.to_owned(),
        })
    }

    /// Host and port.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    /// The path of the request.
    pub(super) fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let actual = Endpoint::parse(text).map(|endpoint| endpoint.to_string());
            match expected {
                Ok(expected) => assert_eq!(actual.as_deref(), Ok(expected)),
                Err(part) => assert!(actual.unwrap_err().contains(part), "{text}"),
            }
        };
        check("http://a:1", Ok("http://a:1/v1/metrics"));
        check("http://a", Ok("http://a:4318/v1/metrics"));
        check("http://a/", Ok("http://a:4318/v1/metrics"));
        check("http://[::1]:5/otlp/x", Ok("http://[::1]:5/otlp/x"));
        check("https://a", Err("not available in this version"));
        for bad in [
            "",
            "a:4318",
            "http://",
            "http://u@a",
            "http://a/b c",
            "http://a/b\r\nX: y",
        ] {
            check(bad, Err("write for instance"));
        }
    }
}
