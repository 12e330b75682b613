//! What stub matching and the built-in endpoints see of a request.

use plimsoll_http::{Fields, RequestHead};

/// A request's head, borrowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    /// As received.
    pub(crate) method: &'a str,
    /// Path and query as received, undecoded; without scheme and authority, and without a `?` that nothing follows.
    pub(crate) url: &'a str,
    /// The path alone.
    pub(crate) path: &'a str,
    /// The header fields.
    pub(crate) fields: &'a Fields,
}

impl<'a> Request<'a> {
    /// The view of `head`.
    pub(crate) fn of(head: &'a RequestHead) -> Self {
        let (target, path) = (head.target(), head.path());
        Self {
            method: head.method(),
            url: origin_form(target, path),
            path,
            fields: head.fields(),
        }
    }

    /// The query without its `?`, empty if there is none.
    pub(crate) fn query(&self) -> &'a str {
        self.url.get(self.path.len() + 1..).unwrap_or("")
    }
}

/// The part of a target from its path on, without the mark of an empty query, as WireMock sees it. The query of an absolute target without a path is not kept.
fn origin_form<'a>(target: &'a str, path: &'a str) -> &'a str {
    let target = match target.strip_suffix('?') {
        Some(before) if !before.contains('?') => before,
        _ => target,
    };
    if target.starts_with('/') {
        return target;
    }
    let Some((_, after_scheme)) = target.split_once("://") else {
        return path;
    };
    match after_scheme.find(['/', '?']) {
        Some(start) if after_scheme[start..].starts_with('/') => &after_scheme[start..],
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_starts_at_the_path() {
        for (target, path, expected) in [
            ("/a?b=1", "/a", "/a?b=1"),
            ("http://x:80/a?b=1", "/a", "/a?b=1"),
            ("http://x", "/", "/"),
            ("http://x?a=/b", "/", "/"),
            ("/a?", "/a", "/a"),
            ("/a?b?", "/a", "/a?b?"),
            ("*", "*", "*"),
        ] {
            assert_eq!(origin_form(target, path), expected, "{target}");
        }
    }
}
