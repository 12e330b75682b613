//! A shell command as the words that a POSIX shell would see, with bash's `$'…'`, which browsers write.
//!
//! Nothing is expanded: what a shell would have to run or look up first is refused, because a request with an unexpanded
//! `$TOKEN` in it is not the request that was meant.

use std::iter::Peekable;
use std::str::Chars;

/// Splits one command into its words.
///
/// # Errors
/// An unclosed quote, an expansion, or more than one command.
pub fn split(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.trim().chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            c if c.is_whitespace() => words.extend(word.take()),
            '\\' => match rest.next() {
                Some('\n') | None => {}
                Some('\r') if rest.next_if_eq(&'\n').is_some() => {}
                Some(escaped) => word.get_or_insert_default().push(escaped),
            },
            '\'' => single_quoted(&mut rest, word.get_or_insert_default())?,
            '"' => double_quoted(&mut rest, word.get_or_insert_default())?,
            '$' if rest.next_if_eq(&'\'').is_some() => {
                ansi_quoted(&mut rest, word.get_or_insert_default())?;
            }
            '$' if rest.peek().is_some_and(|c| begins_expansion(*c)) => return Err(expansion("$")),
            '`' => return Err(expansion("`")),
            ';' | '|' | '&' | '<' | '>' => {
                return Err(format!(
                    "`{next}` outside quotes is for a shell: give one curl command, and quote its URL"
                ));
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

fn begins_expansion(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_{(@*#?".contains(c)
}

fn expansion(sign: &str) -> String {
    format!(
        "`{sign}` begins what a shell would replace: write the value, or put it in single quotes"
    )
}

pub(super) fn unclosed(quote: &str) -> String {
    format!("a {quote} is not closed")
}

fn single_quoted(rest: &mut Peekable<Chars<'_>>, word: &mut String) -> Result<(), String> {
    loop {
        match rest.next().ok_or_else(|| unclosed("'"))? {
            '\'' => return Ok(()),
            c => word.push(c),
        }
    }
}

fn double_quoted(rest: &mut Peekable<Chars<'_>>, word: &mut String) -> Result<(), String> {
    loop {
        match rest.next().ok_or_else(|| unclosed("\""))? {
            '"' => return Ok(()),
            '\\' => match rest.next().ok_or_else(|| unclosed("\""))? {
                '\n' => {}
                c @ ('$' | '`' | '"' | '\\') => word.push(c),
                c => word.extend(['\\', c]),
            },
            '$' if rest.peek().is_some_and(|c| begins_expansion(*c)) => return Err(expansion("$")),
            '`' => return Err(expansion("`")),
            c => word.push(c),
        }
    }
}

/// Bash's `$'…'`, whose escapes are those of C: they write bytes, which together must be a text.
fn ansi_quoted(rest: &mut Peekable<Chars<'_>>, word: &mut String) -> Result<(), String> {
    let mut bytes = Vec::new();
    loop {
        match rest.next().ok_or_else(|| unclosed("$'"))? {
            '\'' => break,
            '\\' => match escaped(rest)? {
                Escaped::Character(character) => push(&mut bytes, character),
                Escaped::Byte(byte) => bytes.push(byte),
                Escaped::Nothing(unknown) => {
                    bytes.push(b'\\');
                    push(&mut bytes, unknown);
                }
            },
            c => push(&mut bytes, c),
        }
    }
    let text = String::from_utf8(bytes);
    word.push_str(&text.map_err(|_| "the bytes that $'…' writes are no text in UTF-8".to_owned())?);
    Ok(())
}

fn push(bytes: &mut Vec<u8>, character: char) {
    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Text written by a backslash in `$'…'`.
enum Escaped {
    Character(char),
    /// One of several that may be a character together.
    Byte(u8),
    /// This is no escape: it stands as it is, backslash and all.
    Nothing(char),
}

fn escaped(rest: &mut Peekable<Chars<'_>>) -> Result<Escaped, String> {
    let letter = rest.next().ok_or_else(|| unclosed("$'"))?;
    let character = match letter {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'e' => '\u{1b}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '\\' | '\'' | '"' | '?' => letter,
        'u' => code_point(rest)?,
        'U' => char::from_u32(number(rest, 16, 8)).ok_or_else(|| no_character(letter))?,
        'x' => return Ok(byte(number(rest, 16, 2))),
        digit @ '0'..='7' => {
            let first = digit.to_digit(8).unwrap_or(0);
            return Ok(byte((0..2).fold(first, |value, _| {
                match octal_digit(rest) {
                    Some(next) => value * 8 + next,
                    None => value,
                }
            })));
        }
        unknown => return Ok(Escaped::Nothing(unknown)),
    };
    Ok(Escaped::Character(character))
}

/// The byte of this number, of which a shell takes the last eight bits.
fn byte(number: u32) -> Escaped {
    Escaped::Byte(number.to_le_bytes()[0])
}

fn octal_digit(rest: &mut Peekable<Chars<'_>>) -> Option<u32> {
    rest.next_if(|c| c.is_digit(8)).and_then(|c| c.to_digit(8))
}

/// The number that the next digits write, at most `most` of them.
fn number(rest: &mut Peekable<Chars<'_>>, radix: u32, most: usize) -> u32 {
    let mut value = 0;
    for _ in 0..most {
        let Some(digit) = rest.next_if(|c| c.is_digit(radix)) else {
            break;
        };
        value = value * radix + digit.to_digit(radix).unwrap_or(0);
    }
    value
}

/// `\u` and four digits; browsers write what lies beyond them as a pair of surrogates.
fn code_point(rest: &mut Peekable<Chars<'_>>) -> Result<char, String> {
    let first = number(rest, 16, 4);
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(first).ok_or_else(|| no_character('u'));
    }
    let second = match (rest.next(), rest.next()) {
        (Some('\\'), Some('u')) => number(rest, 16, 4),
        _ => return Err(no_character('u')),
    };
    let combined = second
        .checked_sub(0xdc00)
        .map(|low| 0x10000 + ((first - 0xd800) << 10) + low);
    combined
        .and_then(char::from_u32)
        .ok_or_else(|| no_character('u'))
}

fn no_character(escape: char) -> String {
    format!("`\\{escape}` in $'…' does not write a character")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        let check = |command: &str, expected: &[&str]| {
            assert_eq!(split(command).unwrap(), expected, "{command}");
        };
        check("curl  a\tb", &["curl", "a", "b"]);
        check(
            "curl 'a b' \\\n  -H \"c: \\\"d\\\"\"",
            &["curl", "a b", "-H", "c: \"d\""],
        );
        check("curl \\\r\n 'x'", &["curl", "x"]);
        check("a'b'\"c\"d ''", &["abcd", ""]);
        check(
            "'it'\\''s' \"a\\nb\" \"5$\" $",
            &["it's", "a\\nb", "5$", "$"],
        );
        check(
            r#"$'{"a":"\u0021\'\n"}' $'\x41\101\t' $'\ud83d\ude00' $'\z' $'\xc3\xa9'"#,
            &["{\"a\":\"!'\n\"}", "AA\t", "\u{1f600}", "\\z", "é"],
        );
    }

    #[test]
    fn what_a_shell_would_do_first_is_refused() {
        let messages: Vec<String> = [
            "curl 'a",
            "curl \"a",
            "curl $'a",
            "curl $URL",
            "curl \"${URL}\"",
            "curl `pwd`",
            "curl a | jq .",
            "curl http://a/?b=c&d=e",
            "curl $'\\xff'",
            "curl $'\\ud83d'",
        ]
        .iter()
        .map(|command| format!("{command}: {}", split(command).unwrap_err()))
        .collect();
        insta::assert_snapshot!(messages.join("\n"), @r#"
        curl 'a: a ' is not closed
        curl "a: a " is not closed
        curl $'a: a $' is not closed
        curl $URL: `$` begins what a shell would replace: write the value, or put it in single quotes
        curl "${URL}": `$` begins what a shell would replace: write the value, or put it in single quotes
        curl `pwd`: ``` begins what a shell would replace: write the value, or put it in single quotes
        curl a | jq .: `|` outside quotes is for a shell: give one curl command, and quote its URL
        curl http://a/?b=c&d=e: `&` outside quotes is for a shell: give one curl command, and quote its URL
        curl $'\xff': the bytes that $'…' writes are no text in UTF-8
        curl $'\ud83d': `\u` in $'…' does not write a character
        "#);
    }
}
