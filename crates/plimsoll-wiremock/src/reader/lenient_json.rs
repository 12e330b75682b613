//! Turns JSON as WireMock accepts it (comments, single-quoted strings) into strict JSON, keeping every line in its place.
//!
//! Parsing is left to `serde_json`: this only rewrites what it would refuse. Anything else that is wrong passes through,
//! so that the parser reports it with its line and column.

/// The strict form of `text`. Comments become spaces, single-quoted strings become double-quoted ones.
pub fn to_strict(text: &str) -> String {
    let mut strict = String::with_capacity(text.len());
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while let Some(at) = rest.find(['"', '\'', '/']) {
        strict.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match rest.as_bytes() {
            [b'/', b'/', ..] => blank(rest, rest.find('\n').unwrap_or(rest.len()), &mut strict),
            [b'/', b'*', ..] => blank(
                rest,
                rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
                &mut strict,
            ),
            [quote @ (b'"' | b'\''), ..] => string(rest, char::from(*quote), &mut strict),
            _ => {
                strict.push_str(&rest[..1]);
                1
            }
        };
        rest = &rest[length..];
    }
    strict.push_str(rest);
    strict
}

/// Replaces a comment of `length` bytes by spaces, keeping its line ends; returns the length.
fn blank(text: &str, length: usize, strict: &mut String) -> usize {
    let spaces = text[..length]
        .chars()
        .map(|c| if c == '\n' { '\n' } else { ' ' });
    strict.extend(spaces);
    length
}

/// Copies a string that starts with `quote`, in double quotes; returns how many bytes it had, all if it does not end.
fn string(text: &str, quote: char, strict: &mut String) -> usize {
    strict.push('"');
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            c if c == quote => {
                strict.push('"');
                return at + 1;
            }
            '"' => strict.push_str("\\\""),
            '\\' => match characters.next() {
                Some((_, '\'')) => strict.push('\''),
                Some((_, escaped)) => strict.extend(['\\', escaped]),
                None => strict.push('\\'),
            },
            c => strict.push(c),
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_single_quotes() {
        let check = |text: &str, expected: &str| assert_eq!(to_strict(text), expected, "{text}");
        check(r#"{"a": 1}"#, r#"{"a": 1}"#);
        check(r#"{'a': 'it\'s "x"'}"#, r#"{"a": "it's \"x\""}"#);
        check(
            r#"{"a": "http://x/*y*/ 'z'"}"#,
            r#"{"a": "http://x/*y*/ 'z'"}"#,
        );
        check("{ // one\n\"a\": 1 }", "{       \n\"a\": 1 }");
        check("/* a\n b */{}", "    \n     {}");
        check(r#"{"a": "\\"}"#, r#"{"a": "\\"}"#);
        check("\u{feff}{}", "{}");
    }

    #[test]
    fn what_does_not_end_stays_an_error() {
        for text in ["{'a", "/* x", "{\"a\\", "/"] {
            assert!(
                serde_json::from_str::<serde_json::Value>(&to_strict(text)).is_err(),
                "{text}"
            );
        }
    }
}
