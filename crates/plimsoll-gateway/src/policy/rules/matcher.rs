//! Which paths a rule is about.
//!
//! Patterns are held against the decoded path, so that no spelling of it gets past them, and where a rule restricts or permits against every
//! other reading of it, too, see [`crate::messages::path::readings`].

mod wildcards;

use crate::messages::path::readings::{self, decode};
use plimsoll_http::prefix;
use regex_automata::meta;
use regex_automata::nfa::thompson::WhichCaptures;
use std::borrow::Cow;
use wildcards::Wildcards;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct PathMatcher {
    pattern: Pattern,
    against: Against,
}

/// Pattern of a path.
#[derive(Debug, Clone)]
enum Pattern {
    /// Most patterns are nothing else.
    Wildcards(Wildcards),
    Expression(Box<Expression>),
}

/// A regular expression.
#[derive(Debug, Clone)]
struct Expression {
    compiled: meta::Regex,
    speaks_of_parameters: bool,
}

/// Room that the regular expressions of one file may still take, compiled: a few bytes of one may stand for very many, and so do thousands.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    left: usize,
}

impl Room {
    /// Some hundred expressions of usual length.
    const BYTES: usize = 3 << 19;
    /// Room that a single one may take.
    const OF_ONE: usize = 256 << 10;

    pub(crate) fn of_a_file() -> Self {
        Self { left: Self::BYTES }
    }

    fn exhausted(pattern: &str) -> String {
        format!(
            "`{pattern}` is one regular expression too many: those of a file may take {} kB when they are compiled; write `*` and `{{name}}` for segments, or several files",
            Self::BYTES >> 10
        )
    }
}

/// Subject of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Against {
    /// Matched against the rest of the path behind the route's own.
    Below,
    /// That, or the whole path: either will do.
    Either,
    /// Matched against the rest behind the route's own path, or behind this prefix in it, which is taken off a second time: either will do.
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
    let whole = whole.map(|whole| [whole.clone(), prefix::strip(&own, &whole).to_owned()]);
    let below = readings::others(below)?.into_iter();
    let below = below.map(|below| [format!("{own}{below}"), below]);
    Ok(Others::Known(whole.chain(below).collect()))
}

impl PathMatcher {
    /// Whole segments from the route's own path on: `/admin` covers `/admin` and `/admin/x`; `{name}` stands for one segment.
    ///
    /// # Errors
    /// Problem of the text.
    pub(crate) fn below(text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix('/') else {
            return Err("a path begins with `/`: write for instance `/orders/{id}`".to_owned());
        };
        let written = rest.split('/').filter(|segment| !segment.is_empty());
        let segments: Result<Vec<Option<&str>>, String> = written.map(segment).collect();
        Ok(Self {
            pattern: Pattern::Wildcards(Wildcards::below(segments?)),
            against: Against::Below,
        })
    }

    /// A regular expression that is found anywhere, for which there may be no room.
    ///
    /// # Errors
    /// Its problem.
    pub(crate) fn expression(
        pattern: &str,
        against: Against,
        room: &mut Room,
    ) -> Result<Self, String> {
        let pattern = match Wildcards::parse(pattern) {
            Some(wildcards) => Pattern::Wildcards(wildcards),
            None => Pattern::Expression(Box::new(Expression::compile(pattern, room)?)),
        };
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
                _ if self.pattern.speaks_of_parameters() => true,
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

/// A segment of our own patterns as it is written; `None`: any.
fn segment(written: &str) -> Result<Option<&str>, String> {
    let is_name = written.len() > 2 && written.starts_with('{') && written.ends_with('}');
    match is_name {
        true => Ok(None),
        false if written.contains(['{', '}']) => Err(format!(
            "`{written}` is no segment: `{{name}}` stands for a whole one"
        )),
        false => Ok(Some(written)),
    }
}

impl Pattern {
    fn is_in(&self, path: &str) -> bool {
        match self {
            Self::Wildcards(wildcards) => wildcards.is_in(path),
            Self::Expression(expression) => expression.compiled.is_match(path),
        }
    }

    fn speaks_of_parameters(&self) -> bool {
        match self {
            Self::Wildcards(wildcards) => wildcards.speaks_of(PARAMETERS),
            Self::Expression(expression) => expression.speaks_of_parameters,
        }
    }
}

/// Beginning of a segment's parameters.
const PARAMETERS: char = ';';

impl Expression {
    fn compile(pattern: &str, room: &mut Room) -> Result<Self, String> {
        if room.left == 0 {
            return Err(Room::exhausted(pattern));
        }
        let most = room.left.min(Room::OF_ONE);
        // Whether it is found is all that is asked, and what would find it faster takes several times the memory.
        let config = meta::Config::new()
            .which_captures(WhichCaptures::None)
            .onepass(false)
            .dfa(false)
            .nfa_size_limit(Some(most));
        let built = meta::Regex::builder().configure(config).build(pattern);
        let taken = match &built {
            Ok(compiled) => compiled.memory_usage(),
            // It took as much on the way.
            Err(error) if error.size_limit().is_some() => most,
            Err(_) => 0,
        };
        room.left = room.left.saturating_sub(taken);
        let compiled = built.map_err(|error| match error.size_limit() {
            Some(_) if most == Room::OF_ONE => format!(
                "`{pattern}` takes more than {} kB when it is compiled: repeat less in it",
                Room::OF_ONE >> 10
            ),
            Some(_) => Room::exhausted(pattern),
            None => format!("`{pattern}` is not a regular expression: {}", why(&error)),
        })?;
        Ok(Self {
            compiled,
            speaks_of_parameters: pattern.contains(PARAMETERS),
        })
    }
}

/// Problem of the syntax: the expression with the place marked, and the reason on the last line.
fn why(error: &meta::BuildError) -> String {
    let text = match error.syntax_error() {
        Some(error) => error.to_string(),
        None => error.to_string(),
    };
    let why = text.lines().last().unwrap_or_default();
    why.strip_prefix("error: ").unwrap_or(why).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_a_file_take_so_much_together() {
        let mut room = Room::of_a_file();
        let mut compile = |pattern: &str| {
            let compiled = PathMatcher::expression(pattern, Against::Below, &mut room);
            compiled.map(|_| ())
        };
        // A usual definition has fewer of all of these.
        for number in 0..10_000 {
            compile(&format!("^/orders/{number}/([^/]+)/lines/.*")).unwrap();
        }
        for number in 0..300 {
            compile(&format!("^/orders/{number}/[0-9]+$")).unwrap();
        }
        insta::assert_snapshot!(compile(".{1000}").unwrap_err(), @"`.{1000}` takes more than 256 kB when it is compiled: repeat less in it");
        let first = (0..10_000).find_map(|number| compile(&format!("/{number}/[a-z]")).err());
        let first = first.unwrap();
        let (_, why) = first.split_once(" is ").unwrap();
        insta::assert_snapshot!(why, @"one regular expression too many: those of a file may take 1536 kB when they are compiled; write `*` and `{name}` for segments, or several files");
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
            let mut room = Room::of_a_file();
            let matcher = PathMatcher::expression(pattern, against.clone(), &mut room).unwrap();
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
        let mut room = Room::of_a_file();
        assert!(PathMatcher::expression("/a(", Against::Below, &mut room).is_err());
    }
}
