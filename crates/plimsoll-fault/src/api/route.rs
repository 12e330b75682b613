//! Paths of the API, and the methods that each takes.

/// A path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// `/version`
    Version,
    /// `/metrics`
    Metrics,
    /// `/plimsoll/turns`
    Turns,
    /// `/plimsoll/detours/{proxy}`
    Detour(String),
    /// `/reset`
    Reset,
    /// `/populate`
    Populate,
    /// `/proxies`
    Proxies,
    /// `/proxies/{proxy}`
    Proxy(String),
    /// `/proxies/{proxy}/toxics`
    Toxics(String),
    /// `/proxies/{proxy}/toxics/{toxic}`
    Toxic(String, String),
}

/// A method that some path takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// POST
    Post,
    /// PATCH
    Patch,
    /// DELETE
    Delete,
}

impl Route {
    /// The route of a path as it came.
    pub fn of(path: &str) -> Option<Self> {
        let segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        let named = |name: &str| decode(name).filter(|name| !name.is_empty());
        Some(match segments[..] {
            ["version"] => Self::Version,
            ["metrics"] => Self::Metrics,
            ["plimsoll", "turns"] => Self::Turns,
            ["plimsoll", "detours", proxy] => Self::Detour(named(proxy)?),
            ["reset"] => Self::Reset,
            ["populate"] => Self::Populate,
            ["proxies"] => Self::Proxies,
            ["proxies", proxy] => Self::Proxy(named(proxy)?),
            ["proxies", proxy, "toxics"] => Self::Toxics(named(proxy)?),
            ["proxies", proxy, "toxics", toxic] => Self::Toxic(named(proxy)?, named(toxic)?),
            _ => return None,
        })
    }

    /// Whether it takes a method.
    pub fn takes(&self, method: Method) -> bool {
        use Method::{Delete, Get, Patch, Post};
        match self {
            Self::Version | Self::Turns => method == Get,
            // It is the only one that does not say which.
            Self::Metrics => true,
            Self::Reset | Self::Populate | Self::Detour(_) => method == Post,
            Self::Proxies | Self::Toxics(_) => matches!(method, Get | Post),
            Self::Proxy(_) | Self::Toxic(..) => matches!(method, Get | Post | Patch | Delete),
        }
    }
}

impl Method {
    /// The method of this name.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "GET" => Self::Get,
            "POST" => Self::Post,
            "PATCH" => Self::Patch,
            "DELETE" => Self::Delete,
            _ => return None,
        })
    }
}

/// A segment with percent-encoding resolved, so that names may have a slash; none where it is broken.
fn decode(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut parts = segment.split('%');
    bytes.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_names_that_may_be_encoded() {
        let toxic = Route::of("/proxies/a%20b%2Fc/toxics/%C3%A4").unwrap();
        assert_eq!(toxic, Route::Toxic("a b/c".to_owned(), "ä".to_owned()));
        for path in [
            "/",
            "",
            "/proxies/",
            "/proxies/a/",
            "/proxies/a/b",
            "/proxies/x%2",
            "/proxies/x%zz",
            "/Version",
        ] {
            assert_eq!(Route::of(path), None, "{path}");
        }
    }
}
