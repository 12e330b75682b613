//! Prefixes of paths, which cover whole segments.

/// Whether `path` lies under `prefix`: equal to it, or continuing after a slash.
#[inline]
#[must_use]
pub fn covers(prefix: &str, path: &str) -> bool {
    path.strip_prefix(stem(prefix))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The forwarded path when a route strips its prefix: the rest of `path`, never empty.
#[inline]
#[must_use]
pub fn strip<'a>(prefix: &str, path: &'a str) -> &'a str {
    match path.strip_prefix(stem(prefix)) {
        Some("") => "/",
        Some(rest) => rest,
        None => path,
    }
}

/// A prefix without a slash at its end: what covers a path is the path up to one of its slashes, or all of it.
#[inline]
#[must_use]
pub fn stem(prefix: &str) -> &str {
    prefix.strip_suffix('/').unwrap_or(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stripping_leaves_an_absolute_path() {
        assert_eq!(strip("/api", "/api"), "/");
        assert_eq!(strip("/api", "/api/"), "/");
        assert_eq!(strip("/api", "/api/x"), "/x");
        assert_eq!(strip("/", "/x"), "/x");
    }
}
