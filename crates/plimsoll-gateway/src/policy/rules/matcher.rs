//! Which paths a rule is about.
//!
//! Patterns are held against the decoded path, so that no spelling of it gets past them, and where a rule restricts or permits against every
//! other reading of it, too, see [`crate::path::readings`].

use crate::path::readings::{self, decode};
use crate::router;
use regex::Regex;
use std::borrow::Cow;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct PathMatcher {
    pattern: Pattern,
    against: Against,
}

/// What is looked for in a path.
#[derive(Debug, Clone)]
enum Pattern {
    /// Just this text: most patterns are nothing else, and compiled one would take fifty times its length.
    Text(Box<str>),
    Expression(Regex),
}

/// What a pattern is held against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Against {
    /// What follows the route's own path.
    Below,
    /// That, or the whole path: either will do.
    Either,
    /// What follows the route's own path, or this prefix in it, which is taken off a second time: either will do.
    BelowTwice(Box<str>),
}

/// A path with its escapes resolved, and what else an upstream may take it for.
#[derive(Debug)]
pub(crate) struct Decoded<'a> {
    whole: Cow<'a, str>,
    below: Cow<'a, str>,
    others: Others,
}

/// Other readings of a path.
#[derive(Debug)]
enum Others {
    /// Whole, and below the route's own path.
    Known(Vec<[String; 2]>),
    TooMany,
}

impl<'a> Decoded<'a> {
    /// `below` is what follows the route's own path in `path`.
    pub(crate) fn of(path: &'a str, below: &'a str) -> Self {
        let others = match readings::is_plain(path) {
            true => Others::Known(Vec::new()),
            false => others(path, below).unwrap_or(Others::TooMany),
        };
        Self {
            whole: decode(path),
            below: decode(below),
            others,
        }
    }
}

/// Whatever the upstream gets, the whole path or what is below the route's own.
fn others(path: &str, below: &str) -> Result<Others, readings::TooMany> {
    let own = decode(path.strip_suffix(below).unwrap_or(path));
    let whole = readings::others(path)?.into_iter();
    let whole = whole.map(|whole| [whole.clone(), router::strip(&own, &whole).to_owned()]);
    let below = readings::others(below)?.into_iter();
    let below = below.map(|below| [format!("{own}{below}"), below]);
    Ok(Others::Known(whole.chain(below).collect()))
}

impl PathMatcher {
    /// Whole segments from the route's own path on: `/admin` covers `/admin` and `/admin/x`; `{name}` stands for one segment.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub(crate) fn below(text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix('/') else {
            return Err("a path begins with `/`: write for instance `/orders/{id}`".to_owned());
        };
        let mut pattern = "^".to_owned();
        for segment in rest.split('/').filter(|segment| !segment.is_empty()) {
            pattern += "/";
            let is_name = segment.len() > 2 && segment.starts_with('{') && segment.ends_with('}');
            match is_name {
                true => pattern += "[^/]+",
                false if segment.contains(['{', '}']) => {
                    return Err(format!(
                        "`{segment}` is no segment: `{{name}}` stands for a whole one"
                    ));
                }
                false => pattern += &regex::escape(segment),
            }
        }
        pattern += "(/|$)";
        Self::compile(&pattern, Against::Below)
    }

    /// A regular expression that is found anywhere.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn expression(pattern: &str, against: Against) -> Result<Self, String> {
        Self::compile(pattern, against)
    }

    fn compile(pattern: &str, against: Against) -> Result<Self, String> {
        if let Some(text) = text_of(pattern) {
            let pattern = Pattern::Text(text.into());
            return Ok(Self { pattern, against });
        }
        // Patterns come from a file; none may take more memory than this.
        const COMPILED_BYTES: usize = 1 << 20;
        let built = regex::RegexBuilder::new(pattern)
            .size_limit(COMPILED_BYTES)
            .build();
        let built = built.map_err(|error| {
            // It draws where it stumbled, and says why in its last line.
            let text = error.to_string();
            let why = text.lines().last().unwrap_or_default();
            let why = why.strip_prefix("error: ").unwrap_or(why);
            format!("`{pattern}` is not a regular expression: {why}")
        })?;
        let pattern = Pattern::Expression(built);
        Ok(Self { pattern, against })
    }

    /// Whether a path, read as it was sent, is one of these.
    pub(crate) fn matches(&self, path: &Decoded<'_>) -> bool {
        self.is_one_of(&path.whole, &path.below)
    }

    /// Whether some upstream may take it for one of these.
    pub(crate) fn matches_somehow(&self, path: &Decoded<'_>) -> bool {
        self.matches(path)
            || match &path.others {
                Others::Known(others) => others.iter().any(|[w, b]| self.is_one_of(w, b)),
                Others::TooMany => true,
            }
    }

    /// Whether every upstream takes it for one of these. A pattern that speaks of parameters says itself what they mean.
    pub(crate) fn matches_however(&self, path: &Decoded<'_>) -> bool {
        self.matches(path)
            && match &path.others {
                _ if self.pattern.as_str().contains(';') => true,
                Others::Known(others) => others.iter().all(|[w, b]| self.is_one_of(w, b)),
                Others::TooMany => false,
            }
    }

    fn is_one_of(&self, whole: &str, below: &str) -> bool {
        let is_match = |path: &str| self.pattern.is_in(path);
        is_match(below)
            || match &self.against {
                Against::Below => false,
                Against::Either => is_match(whole),
                Against::BelowTwice(prefix) => below.strip_prefix(&**prefix).is_some_and(|rest| {
                    // What is left begins with a slash, whether the prefix ended with one or not.
                    match rest.starts_with('/') {
                        true => is_match(rest),
                        false => is_match(&format!("/{rest}")),
                    }
                }),
            }
    }
}

impl Pattern {
    fn is_in(&self, path: &str) -> bool {
        match self {
            Self::Text(text) => path.contains(&**text),
            Self::Expression(expression) => expression.is_match(path),
        }
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Expression(expression) => expression.as_str(),
        }
    }
}

/// The one text that a regular expression finds, if it is written so that this can be seen.
fn text_of(pattern: &str) -> Option<String> {
    const SPECIAL: &str = "\\.+*?()|[]{}^$";
    const ESCAPED: &str = "\\.+*?()|[]{}^$#&-~";
    let mut text = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        let stands_for = match letter {
            '\\' => letters.next().filter(|next| ESCAPED.contains(*next)),
            letter => Some(letter).filter(|letter| !SPECIAL.contains(*letter)),
        };
        text.push(stands_for?);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_more_than_a_text_is_not_compiled() {
        let check = |pattern: &str, expected: Option<&str>| {
            assert_eq!(text_of(pattern).as_deref(), expected, "{pattern}");
            if let Some(text) = expected {
                let anchored = Regex::new(&format!("^(?:{pattern})$")).unwrap();
                assert!(anchored.is_match(text), "{pattern}");
            }
        };
        check("", Some(""));
        check("/orders", Some("/orders"));
        check(r"/my\-orders/a\.b", Some("/my-orders/a.b"));
        check("/é#~", Some("/é#~"));
        for expression in [
            "^/a", "/a$", "/.", "/a?", "/[a]", "/(a)", "a|b", r"\d", r"\<", "\\", "(?i)a", "a{2}",
        ] {
            check(expression, None);
        }
    }

    #[test]
    fn own_paths_cover_whole_segments() {
        let check = |pattern: &str, below: &str, expected: bool| {
            let matcher = PathMatcher::below(pattern).unwrap();
            let actual = matcher.matches(&Decoded::of(&format!("/api{below}"), below));
            assert_eq!(actual, expected, "{pattern} {below}");
        };
        check("/admin", "/admin", true);
        check("/admin", "/admin/x", true);
        check("/admin", "/administrator", false);
        check("/admin", "/x/admin", false);
        check("/admin/", "/admin", true);
        check("/", "/anything", true);
        check("/orders/{id}", "/orders/7", true);
        check("/orders/{id}", "/orders/7/lines", true);
        check("/orders/{id}", "/orders", false);
        check("/orders/{id}/lines", "/orders/7/lines", true);
        check("/a.b", "/axb", false);
        check("/api", "/x", false);
        check("/a b", "/a%20b", true);
        assert!(PathMatcher::below("admin").is_err());
        assert!(PathMatcher::below("/x{id}").is_err());
    }

    #[test]
    fn expressions_are_found_anywhere_in_what_they_are_held_against() {
        let check = |pattern: &str, against: Against, below: &str, expected: bool| {
            let matcher = PathMatcher::expression(pattern, against.clone()).unwrap();
            let actual = matcher.matches(&Decoded::of(&format!("/api{below}"), below));
            assert_eq!(actual, expected, "{pattern} {against:?} {below}");
        };
        check("/admin", Against::Below, "/x/administrator", true);
        check("^/admin", Against::Either, "/x/admin", false);
        check("^/api/admin", Against::Either, "/admin", true);
        check("^/api/admin", Against::Below, "/admin", false);
        let twice = || Against::BelowTwice("/api/".into());
        check("^/api/admin", twice(), "/admin", false);
        check("^/admin", twice(), "/admin", true);
        check("^/admin", twice(), "/api/admin", true);
        assert!(PathMatcher::expression("/a(", Against::Below).is_err());
    }
}
