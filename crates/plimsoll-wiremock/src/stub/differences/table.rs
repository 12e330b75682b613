//! The table itself: two columns, the stub's side and the request's, and remarks at the right. Its layout is WireMock 3.13.2's.

use crate::stub::request_pattern::Row;
use std::borrow::Cow;

const TITLE: &str = "Request was not matched";

/// Characters and lines of one side of a row at most: what is longer is cut, and its last line says so.
const MOST_CHARACTERS: usize = 16_384;
const MOST_LINES: usize = 512;
const CUT: &str = "... (there is more)";

/// The table of a stub's rows.
pub(super) fn render(name: Option<&str>, rows: &[Row], width: usize) -> String {
    let mut table = Table {
        out: String::new(),
        middle: width / 2 - 1,
        width,
    };
    table.head();
    if let Some(name) = name {
        table.row(name, "", None);
        table.line("", None, None);
    }
    for row in rows {
        match row {
            Row::Part {
                expected,
                actual,
                remark,
            } => table.row(expected, actual, remark.as_deref()),
            Row::Gap => table.line("", Some(""), None),
        }
    }
    table.line("", None, None);
    table.rule();
    table.out
}

struct Table {
    out: String,
    middle: usize,
    width: usize,
}

impl Table {
    fn head(&mut self) {
        let indent = " ".repeat(self.middle - TITLE.len() / 2);
        let underline = "=".repeat(TITLE.len());
        self.out
            .push_str(&format!("\n{indent}{TITLE}\n{indent}{underline}\n\n"));
        self.rule();
        let middle = self.middle;
        self.out.push_str(&format!(
            "|{:middle$}|{:middle$}|\n",
            " Closest stub", " Request"
        ));
        self.rule();
        self.line("", None, None);
    }

    fn rule(&mut self) {
        self.out.push_str(&"-".repeat(self.width));
        self.out.push('\n');
    }

    fn row(&mut self, left: &str, right: &str, remark: Option<&str>) {
        let most = self.width / 2 - 2;
        let (left, right) = (cut(left), cut(right));
        let (left, right) = (wrapped(&left, most), wrapped(&right, most));
        let (left, right) = (lines_of(&left), lines_of(&right));
        for index in 0..left.len().max(right.len()) {
            let at = |lines: &[&str]| lines.get(index).copied().unwrap_or("").to_owned();
            let remark = remark.filter(|_| index == 0);
            self.line(&at(&left), Some(&at(&right)), remark);
        }
    }

    fn line(&mut self, left: &str, right: Option<&str>, remark: Option<&str>) {
        let (column, middle) = (self.middle + 1, self.middle);
        self.out.push_str(&format!("{left:column$}|"));
        let right = right.unwrap_or("");
        match (right, remark) {
            ("", None) => {}
            ("", Some(remark)) => {
                self.out
                    .push_str(&format!("{:1$}<<<<< {remark}", "", middle - 5));
            }
            (right, None) => self.out.push_str(&format!(" {right}")),
            (right, Some(remark)) => {
                self.out
                    .push_str(&format!(" {right:0$}<<<<< {remark}", middle - 6));
            }
        }
        self.out.push('\n');
    }
}

/// The shown part of a text.
fn cut(text: &str) -> Cow<'_, str> {
    let by_characters = text
        .char_indices()
        .nth(MOST_CHARACTERS)
        .map(|(place, _)| place);
    let by_lines = memchr::memchr_iter(b'\n', text.as_bytes()).nth(MOST_LINES - 1);
    let Some(end) = by_characters.into_iter().chain(by_lines).min() else {
        return Cow::Borrowed(text);
    };
    if text[end..].trim_end_matches('\n').is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}\n{CUT}", &text[..end]))
}

/// The lines of a text; the empty ones at its end do not count.
fn lines_of(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.trim_end_matches('\n').split('\n').collect();
    if lines.is_empty() { vec![""] } else { lines }
}

/// A text with lines of at most so many characters, if one of its own is longer; broken at spaces where there are any.
fn wrapped(text: &str, most: usize) -> String {
    if text.lines().all(|line| line.chars().count() <= most) {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut start = 0;
    while chars.len() - start > most {
        if chars[start] == ' ' {
            start += 1;
            continue;
        }
        let window = &chars[start..chars.len().min(start + most + 1)];
        let space = window.iter().rposition(|c| *c == ' ');
        let (end, next) = space.map_or((start + most, start + most), |space| {
            (start + space, start + space + 1)
        });
        out.extend(&chars[start..end]);
        out.push('\n');
        start = next;
    }
    out.extend(&chars[start..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_broken_at_spaces() {
        for (text, expected) in [
            ("short", "short"),
            ("one two three", "one\ntwo\nthree"),
            ("abcdefghij", "abcde\nfghij"),
            ("ab\ncd", "ab\ncd"),
        ] {
            assert_eq!(wrapped(text, 5), expected);
        }
    }

    #[test]
    fn long_texts_are_cut() {
        let check = |text: &str, expected: &str| {
            let cut = cut(text);
            assert!(cut.ends_with(expected), "{}", &cut[cut.len() - 40..]);
            assert!(cut.chars().count() <= MOST_CHARACTERS + 40);
            assert!(cut.lines().count() <= MOST_LINES + 1);
        };
        check(&"x".repeat(MOST_CHARACTERS), "xxx");
        check(
            &"\u{e4}".repeat(MOST_CHARACTERS + 1),
            "\u{e4}\n... (there is more)",
        );
        check(&"x\n".repeat(MOST_LINES), "x\n");
        check(&"x\n".repeat(MOST_LINES + 1), "x\n... (there is more)");
    }

    #[test]
    fn a_table_has_two_columns() {
        let part = |expected: &str, actual: &str, remark: Option<&str>| Row::Part {
            expected: expected.to_owned(),
            actual: actual.to_owned(),
            remark: remark.map(str::to_owned),
        };
        let rows = [
            part("GET", "POST", Some("HTTP method does not match")),
            part("/a", "/a", None),
            Row::Gap,
            part("A: 1", "", Some("Header is not present")),
        ];
        insta::assert_snapshot!(render(Some("a name"), &rows, 60));
    }
}
