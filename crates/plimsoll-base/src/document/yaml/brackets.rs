//! How much of a text in brackets a parser may take at once. `saphyr-parser` holds every token between brackets until it has seen the end of
//! them where they might be a key, more than a hundred bytes for each byte of the text, and tells nothing meanwhile.

use std::cell::Cell;
use std::rc::Rc;
use std::str::Chars;

/// Separators of values in brackets, of which a parser may take so many before it tells what is there.
const MARKS: [char; 6] = ['[', ']', '{', '}', ',', ':'];
pub(super) const MOST_MARKS: usize = 16 * 1024;

/// The characters of a text. They end early where a parser has taken too many marks in brackets.
pub(super) struct Watched<'a> {
    text: &'a str,
    left: Chars<'a>,
    /// The beginning of a value, or what is before it, in characters and in bytes.
    value: (usize, usize),
    watch: Rc<Watch>,
}

/// A parser's account of the characters that it took.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// How many characters it has told of.
    told: Cell<usize>,
    /// How many marks it may still take before it is looked at what it takes.
    left: Cell<usize>,
    /// Where the brackets begin of which it has taken too many, in bytes.
    refused: Cell<Option<usize>>,
}

impl Watch {
    /// It has told of all before this character.
    pub(super) fn tell(&self, end: usize) {
        self.told.set(end);
        self.left.set(MOST_MARKS);
    }

    /// Where in the text the brackets begin that hold too much, in bytes.
    pub(super) fn refused(&self) -> Option<usize> {
        self.refused.get()
    }
}

impl<'a> Watched<'a> {
    pub(super) fn of(text: &'a str) -> (Self, Rc<Watch>) {
        let watch = Rc::new(Watch::default());
        watch.tell(0);
        let watched = Self {
            text,
            left: text.chars(),
            value: (0, 0),
            watch: Rc::clone(&watch),
        };
        (watched, watch)
    }

    /// Once many marks are taken: how many more may be, if these are not in brackets or not so many of them.
    fn more(&mut self) -> Option<usize> {
        let told = self.watch.told.get().saturating_sub(self.value.0);
        let told = self.text[self.value.1..].char_indices().nth(told);
        self.pass(told.map_or(self.text.len(), |(at, _)| self.value.1 + at));
        self.pass(self.text.len() - beginning(&self.text[self.value.1..]).len());
        let taken = self.text.len() - self.left.as_str().len();
        let value = self.text.get(self.value.1..taken).unwrap_or_default();
        if !value.starts_with(['[', '{']) {
            // A text, however long, or what is before a value.
            return Some(MOST_MARKS);
        }
        // With the one that is asked for.
        let more = (MOST_MARKS + 1).checked_sub(value.matches(MARKS).count());
        let more = more.filter(|more| *more > 0);
        if more.is_none() {
            self.watch.refused.set(Some(self.value.1));
        }
        more
    }

    /// Goes on to a byte of the text.
    fn pass(&mut self, to: usize) {
        let (characters, from) = self.value;
        let passed = self.text[from..to].chars().count();
        self.value = (characters + passed, to);
    }
}

impl Iterator for Watched<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let next = self.left.next()?;
        if MARKS.contains(&next) {
            let left = match self.watch.left.get() {
                0 => self.more()?,
                left => left,
            };
            self.watch.left.set(left - 1);
        }
        Some(next)
    }
}

/// A text from the beginning of the next value on: behind space, comments, indicators, anchors and tags.
fn beginning(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "-?:,".contains(c));
        let until: &[char] = match rest.chars().next() {
            Some('#') => &['\n', '\r'],
            Some('&' | '!') => &[' ', '\t', '\n', '\r'],
            _ => return rest,
        };
        rest = rest.find(until).map_or("", |end| &rest[end..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_how_they_begin() {
        let check = |text: &str, expected| assert_eq!(beginning(text), expected, "{text:?}");
        check("[", "[");
        check(": # [\n  - &a !b {", "{");
        check(", ? [", "[");
        check("- a: [", "a: [");
        check("\"[\"", "\"[\"");
        check("| # text\n [", "| # text\n [");
        check("# [", "");
        check("", "");
    }

    #[test]
    fn a_text_ends_where_too_many_marks_are_in_brackets() {
        let check = |text: &str, told: usize, expected: (usize, Option<usize>)| {
            let (watched, watch) = Watched::of(text);
            watch.tell(told);
            assert_eq!((watched.count(), watch.refused()), expected, "{told}");
        };
        let long = ",".repeat(MOST_MARKS);
        let list = format!("# ä{long}\n[{long}");
        let before = 4 + MOST_MARKS;
        check(&list, 0, (before + MOST_MARKS, Some(before + 1)));
        check(&list, before, (before + MOST_MARKS, Some(before + 1)));
        check(&list, before + 1, (before + 1 + MOST_MARKS, None));
        check(&format!("\"[{long}{long}"), 0, (2 + 2 * MOST_MARKS, None));
    }
}
