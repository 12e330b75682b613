//! Text of others on a terminal: what would steer the terminal, or turn the order of what is read, is written out instead.
//!
//! Files, programs and servers that are not ours put words into messages: names, keys, log lines. A terminal obeys control characters
//! among them, and directional formatting shows text in another order than it has (CVE-2021-42574). Machine-readable output is left
//! as it is: JSON, HTML and YAML have escapes of their own.

use std::borrow::Cow;

/// `text` with everything but line ends and tabs that a terminal would obey written as Rust writes it: `\u{1b}`.
///
/// That is for whole messages, whose lines are ours. What stands inside of one line is for [`in_line`].
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_obeyed(c) && !matches!(c, '\n' | '\t'))
}

/// Text that must stay in its line: line ends and tabs are written out, too.
#[must_use]
pub fn in_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_obeyed)
}

/// Whether a terminal does something else with the character than to show it: C0, DEL, C1, separators of lines and paragraphs, and
/// Unicode's explicit directional formatting (UAX #9, section 2).
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

fn escaped(text: &str, is_refused: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_refused) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_refused(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text as a message, and within a line.
    fn check(text: &str, message: &str, line: &str) {
        assert_eq!((&*visible(text), &*in_line(text)), (message, line));
    }

    #[test]
    fn what_a_terminal_obeys_is_written_out() {
        check("a µ 漢 …", "a µ 漢 …", "a µ 漢 …");
        check("two\nlines\t", "two\nlines\t", r"two\nlines\t");
        check("\u{1b}[31m", r"\u{1b}[31m", r"\u{1b}[31m");
        check(
            "\r\u{8}\0\u{7f}",
            r"\r\u{8}\u{0}\u{7f}",
            r"\r\u{8}\u{0}\u{7f}",
        );
        check("\u{9b}2J", r"\u{9b}2J", r"\u{9b}2J");
        check("\u{202e}gpj", r"\u{202e}gpj", r"\u{202e}gpj");
        check("\u{2066}\u{2069}", r"\u{2066}\u{2069}", r"\u{2066}\u{2069}");
        check(r"C:\new", r"C:\new", r"C:\new");
    }

    #[test]
    fn nothing_that_steers_is_left() {
        let obeyed = (0..=0x1f)
            .chain(0x7f..=0x9f)
            .chain(0x202a..=0x202e)
            .chain(0x2066..=0x2069)
            .filter_map(char::from_u32);
        for c in obeyed {
            assert!(!in_line(&c.to_string()).contains(c), "{c:?}");
        }
    }
}
