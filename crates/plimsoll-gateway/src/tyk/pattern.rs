//! The paths of a definition's lists: from what is written to the regular expression that Tyk makes of it.
//!
//! `{name}` and `/*/` are one segment, a closing `/*` is any number of them; all else is an expression of Go, found anywhere unless the
//! configuration anchors it. Source: Tyk 5.15, `internal/httputil/mux.go` (`PreparePathRegexp`), `gateway/api_definition.go`
//! (`generateRegex`), `gateway/model_urlspec.go` (`matchesPath`).

use crate::policy::rules::matcher::{Against, PathMatcher, Room};
use crate::tyk::go_regex;

/// Settings of `tyk.conf` for all paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PathRules {
    /// `ignore_endpoint_case`.
    pub(super) ignore_case: bool,
    /// `http_server_options.enable_path_prefix_matching`: a path that begins with a slash is looked for at the beginning alone.
    pub(super) prefix: bool,
    /// `http_server_options.enable_path_suffix_matching`: it is looked for at the end alone.
    pub(super) suffix: bool,
}

impl PathRules {
    /// Matcher of a `path` against this.
    ///
    /// # Errors
    /// The problem of the path.
    pub(super) fn matcher(
        self,
        path: &str,
        against: Against,
        room: &mut Room,
    ) -> Result<PathMatcher, String> {
        let translated = go_regex::translate(&self.expression(path))?;
        PathMatcher::expression(&translated, against, room)
    }

    /// The expression of Go that Tyk compiles.
    fn expression(self, path: &str) -> String {
        let mut pattern = match is_template(path) {
            true => with_names(path),
            false => path.to_owned(),
        };
        if pattern.contains("/*") {
            pattern = pattern.replace("/*/", "/[^/]+/").replace("/*", "/.*");
        }
        if self.prefix && pattern.starts_with('/') {
            pattern.insert(0, '^');
        }
        if self.suffix && !pattern.ends_with('$') {
            pattern.push('$');
        }
        if self.ignore_case {
            pattern.insert_str(0, "(?i)");
        }
        pattern
    }
}

/// Whether braces name segments: as many open as close.
fn is_template(path: &str) -> bool {
    let count = |brace: char| path.matches(brace).count();
    count('{') > 0 && count('{') == count('}')
}

/// Every `{…}` that holds something is a segment, whatever it holds: `{2}`, too.
fn with_names(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        out += before;
        match after.split_once('}') {
            Some((name, behind)) if !name.is_empty() => {
                out += "([^/]+)";
                rest = behind;
            }
            _ => {
                out.push('{');
                rest = after;
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::rules::matcher::Decoded;

    /// Results of Tyk's own `PreparePathRegexp` and Go's `regexp` for many patterns and paths: the paths, then a line for each pattern with
    /// its settings (`p`: prefix, `s`: suffix, `i`: whatever its case) and a bit for each path, or `!` where Go compiles it not.
    /// `tests/tyk_paths/` says how it was made.
    const TABLE: &str = include_str!("../../tests/tyk_paths/table.txt");

    #[test]
    fn ten_thousand_paths_match_as_they_do_in_tyk() {
        let mut lines = TABLE.lines();
        let paths: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        let (mut pairs, mut matches) = (0, 0);
        for line in lines {
            let [pattern, settings, bits] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            let rules = PathRules {
                ignore_case: settings.contains('i'),
                prefix: settings.contains('p'),
                suffix: settings.contains('s'),
            };
            let matcher = rules.matcher(pattern, Against::Below, &mut Room::of_a_file());
            if bits == "!" {
                assert!(matcher.is_err(), "{pattern} {settings}: Go refuses it");
                continue;
            }
            let matcher = matcher.unwrap_or_else(|why| panic!("{pattern} {settings}: {why}"));
            for (path, bit) in paths.iter().zip(bits.chars()) {
                let decoded = Decoded::of(path, path);
                let actual = matcher.matches(&decoded);
                assert_eq!(actual, bit == '1', "`{pattern}` {settings} `{path}`");
                pairs += 1;
                matches += u32::from(actual);
            }
        }
        assert!(
            pairs >= 10_000 && matches > pairs / 20,
            "{matches} of {pairs}"
        );
    }

    #[test]
    fn wildcards_are_segments() {
        let check = |path: &str, expected: &str| {
            assert_eq!(PathRules::default().expression(path), expected, "{path}");
        };
        check("/users/*/secret", "/users/[^/]+/secret");
        check("/public/*", "/public/.*");
        check("/a/*/*/b", "/a/[^/]+/.*/b");
        check("/a/{id}/{n2}", "/a/([^/]+)/([^/]+)");
        check("/a/{2}", "/a/([^/]+)");
        check("/a/{}", "/a/{}");
        check("/a/{id", "/a/{id");
        let all = PathRules {
            ignore_case: true,
            prefix: true,
            suffix: true,
        };
        assert_eq!(all.expression("/a"), "(?i)^/a$");
        assert_eq!(all.expression("a$"), "(?i)a$");
    }
}
