//! Chooses the route of a normalised path: the longest prefix that ends on a segment boundary.
//!
//! Knows prefixes and nothing else. Paths come from [`crate::messages::path::normalise`]; what a route does is the proxy's business.

use plimsoll_http::prefix::stem;
use std::collections::HashMap;

/// A finished table of prefixes. Looking up costs one hash per segment, at most as many as the deepest prefix has.
#[derive(Debug)]
pub(crate) struct Router {
    /// Route index by prefix; the root is the empty string, so that every prefix ends just before a slash or the end.
    by_prefix: HashMap<Box<str>, usize>,
    /// Segments of the deepest prefix: bounds the work that a path of thousands of segments can cause.
    depth: usize,
}

impl Router {
    /// A router over distinct prefixes such as `/` and `/api/v1`; the result of a look-up is an index into them.
    pub(crate) fn new<'a>(prefixes: impl IntoIterator<Item = &'a str>) -> Self {
        let by_prefix: HashMap<Box<str>, usize> = prefixes
            .into_iter()
            .enumerate()
            .map(|(index, prefix)| (stem(prefix).into(), index))
            .collect();
        let depth = by_prefix.keys().map(|p| segments(p)).max().unwrap_or(0);
        Self { by_prefix, depth }
    }

    /// The route of `path`, if any prefix covers it.
    pub(crate) fn find(&self, path: &str) -> Option<usize> {
        // Ends of the first `depth` segments, shallowest first; the root ends at 0.
        let mut end = path
            .match_indices('/')
            .map(|(at, _)| at)
            .chain([path.len()])
            .nth(self.depth)
            .unwrap_or(path.len());
        loop {
            if let Some(&index) = self.by_prefix.get(&path[..end]) {
                return Some(index);
            }
            end = path[..end].rfind('/')?;
        }
    }
}

fn segments(stem: &str) -> usize {
    stem.matches('/').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_http::prefix::{covers, strip};
    use proptest::prelude::*;

    #[test]
    fn longest_prefix_on_a_segment_boundary() {
        let prefixes = ["/", "/api", "/api/v1", "/apiary"];
        let router = Router::new(prefixes);
        let check = |path: &str, expected: &str| {
            assert_eq!(router.find(path).map(|i| prefixes[i]), Some(expected));
        };
        check("/", "/");
        check("/x", "/");
        check("/api", "/api");
        check("/api/", "/api");
        check("/apix", "/");
        check("/api/v1", "/api/v1");
        check("/api/v1/x", "/api/v1");
        check("/api/v10", "/api");
        check("/apiary/x", "/apiary");
        assert_eq!(Router::new(["/api"]).find("/"), None);
        assert_eq!(Router::new(["/api"]).find("/ap"), None);
        assert_eq!(Router::new([]).find("/"), None);
    }

    fn path() -> impl Strategy<Value = String> {
        ("(/[ab]{1,2}){1,4}", any::<bool>()).prop_map(|(path, slash)| match slash {
            true => path + "/",
            false => path,
        })
    }

    proptest! {
        #[test]
        fn agrees_with_the_naive_matcher_and_forwards_below_the_route(
            prefixes in proptest::collection::btree_set("(/|(/[ab]{1,2}){1,3})", 0..8),
            path in path(),
        ) {
            let prefixes: Vec<&str> = prefixes.iter().map(String::as_str).collect();
            let naive = (0..prefixes.len())
                .filter(|&i| covers(prefixes[i], &path))
                .max_by_key(|&i| prefixes[i].len());
            let found = Router::new(prefixes.iter().copied()).find(&path);
            prop_assert_eq!(found, naive);
            if let Some(index) = found {
                let prefix = prefixes[index].strip_suffix('/').unwrap_or(prefixes[index]);
                let stripped = strip(prefixes[index], &path);
                prop_assert!(stripped.starts_with('/'));
                let rejoined = format!("{prefix}{stripped}");
                let whole = path.clone() + "/";
                prop_assert!(rejoined == path || rejoined == whole);
            }
        }
    }
}
