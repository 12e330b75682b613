//! Java's regular expressions as WireMock uses them: the whole string must match, and `.` matches line ends too.
//!
//! The engine is `fancy-regex` (linear where it can be, backtracking within a limit where look-around or back references need
//! it). [`translate`] rewrites what the two dialects spell alike and mean differently; what it cannot is refused at load.

mod deferred;
mod translate;

use crate::budget::{BACKTRACK_LIMIT, TooCostly};
use crate::reader::problem::StubProblem;
use crate::reader::{Node, Problems};
use deferred::Deferred;
use fancy_regex::{Expr, Regex};

/// Bytes of a text that an expression with look-around or back references is applied to: it remembers where it may turn back, some forty bytes for
/// each byte that it has passed.
const MOST_REMEMBERED: usize = 64 << 10;
/// The size that a compiled expression may have, in bytes.
const COMPILED_BYTES: usize = 4 << 20;

/// A compiled expression.
#[derive(Debug, Clone)]
pub struct JavaRegex {
    regex: Deferred,
    /// Beginning of every match: most expressions of a large set are told apart by it alone.
    prefix: String,
}

impl JavaRegex {
    /// Compiles the expression that a property holds.
    pub fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let text = node.string(problems)?;
        match Self::compile(&text) {
            Ok(regex) => Some(regex),
            Err(message) => {
                problems.push(StubProblem::invalid(&node.pointer, message));
                None
            }
        }
    }

    /// Compiles `text`; the error says what is wrong or cannot be run here.
    pub fn compile(text: &str) -> Result<Self, String> {
        let pattern = translate::translate(text)?;
        // By itself first: a bracket too many must not pair with one of the frame.
        Expr::parse_tree(&pattern).map_err(|error| refusal(&error))?;
        let regex =
            Deferred::new(format!(r"\A(?s:{pattern})\z")).map_err(|error| refusal(&error))?;
        let prefix = literal_prefix(text);
        Ok(Self { regex, prefix })
    }

    /// Compiles `text` for [`Self::find`]: it may match a part, and `.` does not match line ends.
    pub fn searching(text: &str) -> Result<Self, String> {
        let pattern = translate::translate(text)?;
        Expr::parse_tree(&pattern).map_err(|error| refusal(&error))?;
        let regex = Deferred::new(pattern).map_err(|error| refusal(&error))?;
        Ok(Self {
            regex,
            prefix: String::new(),
        })
    }

    /// The first match and its groups; a group that took no part has nothing.
    pub fn find<'a>(&self, text: &'a str) -> Result<Option<Vec<&'a str>>, TooCostly> {
        let captures = self
            .regex_for(text)?
            .captures(text)
            .map_err(|_| TooCostly::Regex)?;
        Ok(captures.map(|captures| {
            let groups = captures.iter();
            groups
                .map(|group| group.map_or("", |group| group.as_str()))
                .collect()
        }))
    }

    /// Whether a match has to remember where it may turn back.
    pub fn remembers(&self) -> bool {
        self.regex.remembers()
    }

    /// Beginning of every match.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether the whole of `text` matches.
    pub fn matches(&self, text: &str) -> Result<bool, TooCostly> {
        self.regex_for(text)?
            .is_match(text)
            .map_err(|_| TooCostly::Regex)
    }

    fn regex_for(&self, text: &str) -> Result<&Regex, TooCostly> {
        if self.regex.remembers() && text.len() > MOST_REMEMBERED {
            return Err(TooCostly::Text);
        }
        self.regex.get().ok_or(TooCostly::Regex)
    }

    /// Matches of the pattern's groups, if the whole of `text` matches; a group that took no part has nothing.
    pub fn groups<'a>(&self, text: &'a str) -> Result<Option<Vec<&'a str>>, TooCostly> {
        let found = self.find(text)?;
        Ok(found.map(|mut groups| groups.split_off(1)))
    }
}

fn refusal(error: &fancy_regex::Error) -> String {
    format!("not a regular expression that can be run here: {error}")
}

/// The letters, digits, slashes, hyphens and underscores that a pattern begins with and that no quantifier or alternative touches.
fn literal_prefix(pattern: &str) -> String {
    if pattern.contains('|') {
        return String::new();
    }
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-_".contains(c);
    let end = pattern.find(|c| !is_plain(c)).unwrap_or(pattern.len());
    let quantified = pattern[end..].starts_with(['*', '?', '+', '{']);
    pattern[..end - usize::from(quantified && end > 0)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, expected: bool) {
        let regex =
            JavaRegex::compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        assert_eq!(regex.matches(text), Ok(expected), "{pattern} on {text:?}");
    }

    #[test]
    fn the_whole_string_must_match() {
        check("/a|/b", "/a", true);
        check("/a|/b", "/ab", false);
        check("/a.c", "/a\nc", true);
        check("^/x$", "/x", true);
        check("/things/[0-9]+", "/things/12?x", false);
        check("(?i)/ABC", "/abc", true);
    }

    #[test]
    fn java_constructs() {
        check(r"\d+", "٣", false);
        check(r"[\w.]+@x", "a.b@x", true);
        check(r"[^\d]+", "ab", true);
        check(r"\D\S\W", "ab-", true);
        check(r"\Qa.b\E+", "a.bbb", true);
        check(r"a\Q.", "a.", true);
        check(r"\h", " ", true);
        check(r"\h", "a", false);
        check(r"\p{Alpha}+", "abc", true);
        check(r"\p{Alpha}+", "é", false);
        check(r"\P{Digit}", "é", true);
        check(r"\p{L}+", "é", true);
        check(r"(?<n>a)\k<n>", "aa", true);
        check(r"(?=.*x)a++.*", "aax", true);
        check(r"(a)\1", "aa", true);
        check(r"[a-z&&[^bc]]", "b", false);
        check(r"[a~]", "~", true);
        check(r"\x41\u0042", "AB", true);
        check(r"a\/b", "a/b", true);
    }

    #[test]
    fn what_means_something_else_here_is_refused() {
        for pattern in [
            "[",
            "(",
            "a)|(b",
            r"\R",
            r"\X",
            "(?U)a",
            "(?d)a",
            r"\p{javaMirrored}",
            r"\c",
            "[+--]",
        ] {
            assert!(JavaRegex::compile(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn the_prefix_is_what_every_match_begins_with() {
        for (pattern, expected) in [
            ("/item/[0-9]+", "/item/"),
            ("^/items?", "/item"),
            ("/a{2}b", "/"),
            ("/a|/b", ""),
            ("(?i)/a", ""),
            (r"/a\.json", "/a"),
            ("a", "a"),
            ("*", ""),
            ("", ""),
        ] {
            assert_eq!(literal_prefix(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn what_turns_back_is_applied_to_shorter_texts() {
        let check = |pattern: &str, length: usize, expected| {
            let regex = JavaRegex::compile(pattern).unwrap();
            let actual = regex.matches(&"y".repeat(length));
            assert_eq!(actual, expected, "{pattern} on {length}");
        };
        check("y+", MOST_REMEMBERED + 1, Ok(true));
        check("y{1,3}x", MOST_REMEMBERED + 1, Ok(false));
        check("(?!x).+", MOST_REMEMBERED, Ok(true));
        check("(?!x).+", MOST_REMEMBERED + 1, Err(TooCostly::Text));
    }

    #[test]
    fn a_runaway_match_is_given_up() {
        let regex = JavaRegex::compile(r"(?=(a+)+$)\1b").unwrap();
        let text = format!("{}c", "a".repeat(4000));
        assert!(matches!(
            regex.matches(&text),
            Err(TooCostly::Regex) | Ok(false)
        ));
        let regex = JavaRegex::compile(r"(x+x+)+\1y").unwrap();
        assert_eq!(regex.matches(&"x".repeat(400)), Err(TooCostly::Regex));
    }
}
