//! Paths of the API, and the methods that each takes.

use std::borrow::Cow;

/// A path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// `/version`
    Version,
    /// `/metrics`
    Metrics,
    /// `/plimsoll/turns`
    Turns,
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
        let path = decode(path)?;
        let segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        Some(match segments[..] {
            ["version"] => Self::Version,
            ["metrics"] => Self::Metrics,
            ["plimsoll", "turns"] => Self::Turns,
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
            Self::Reset | Self::Populate => method == Post,
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

/// Percent-encoding resolved; none where it is broken.
fn decode(path: &str) -> Option<Cow<'_, str>> {
    if !path.contains('%') {
        return Some(path.into());
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut parts = path.split('%');
    bytes.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_names_that_may_be_encoded() {
        let toxic = Route::of("/proxies/a%20b/toxics/%C3%A4").unwrap();
        assert_eq!(toxic, Route::Toxic("a b".to_owned(), "ä".to_owned()));
        for path in [
            "/",
            "",
            "/proxies/",
            "/proxies/a/",
            "/proxies/a/b",
            "/x%2",
            "/x%zz",
            "/Version",
        ] {
            assert_eq!(Route::of(path), None, "{path}");
        }
    }
}
