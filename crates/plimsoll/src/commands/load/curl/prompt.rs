//! A command that was copied for the Windows prompt (`copy as cURL (cmd)`), as the words that curl would see there.
//!
//! Two readers see it, one after the other. The prompt takes carets away: one means the character behind it as it is, and a line's end
//! behind one is no end. Then the C runtime splits what is left at spaces outside quotes, in which `\"` and `""` mean a quote.

use super::words::unclosed;

/// Whether a command is written for the prompt: browsers put a caret before each quote, or at the end of each line.
pub fn is_meant(command: &str) -> bool {
    ["^\"", "^\n", "^\r\n"]
        .iter()
        .any(|sign| command.contains(sign))
}

/// Splits one command into its words.
///
/// # Errors
/// A quote that is not closed.
pub fn split(command: &str) -> Result<Vec<String>, String> {
    words(&without_carets(&command.replace("\r\n", "\n")))
}

/// The command as the prompt hands it on.
fn without_carets(command: &str) -> String {
    let mut handed_on = String::with_capacity(command.len());
    let mut is_quoted = false;
    let mut rest = command.trim().chars();
    while let Some(next) = rest.next() {
        match next {
            '"' => {
                is_quoted = !is_quoted;
                handed_on.push('"');
            }
            // The line goes on, and what comes next is as it is: so a second line's end is one of the word's own.
            '^' if !is_quoted => match rest.next() {
                Some('\n') => handed_on.extend(rest.next()),
                Some(escaped) => handed_on.push(escaped),
                None => {}
            },
            other => handed_on.push(other),
        }
    }
    handed_on
}

/// The command's words by the C runtime.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    let mut rest = line.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '\\' => {
                let mut slashes = 1;
                while rest.next_if_eq(&'\\').is_some() {
                    slashes += 1;
                }
                let word = word.get_or_insert_default();
                // Before a quote two are one, and one that is left over means the quote as it is.
                if rest.peek() != Some(&'"') {
                    word.push_str(&"\\".repeat(slashes));
                    continue;
                }
                word.push_str(&"\\".repeat(slashes / 2));
                if slashes % 2 == 1 {
                    word.extend(rest.next());
                }
            }
            '"' if is_quoted && rest.next_if_eq(&'"').is_some() => {
                word.get_or_insert_default().push('"');
            }
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !is_quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    if is_quoted {
        return Err(unclosed("\""));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str, expected: &[&str]) {
        assert!(is_meant(command), "{command}");
        assert_eq!(split(command).unwrap(), expected, "{command}");
    }

    #[test]
    fn words_are_those_that_the_prompt_hands_to_a_program() {
        check(
            "curl ^\"http://a/?b=c^&d=^%^20^\" ^\n  -k",
            &["curl", "http://a/?b=c&d=%20", "-k"],
        );
        check(
            "curl \"http://a/?b&c\" ^\r\n  -H \"x: ^y\"",
            &["curl", "http://a/?b&c", "-H", "x: ^y"],
        );
        check("^\"^{^\\^\"a^\\^\":1^}^\"", &["{\"a\":1}"]);
        check("^\"a^\n\nb^\"", &["a\nb"]);
        check("^\"c:^\\^\\x^\"", &["c:\\\\x"]);
        check("^\"\\\\^\" ^\"\"\"x^\"", &["\\", "\"x"]);
        check("^\"it's ^! `5` ^$^\"", &["it's ! `5` $"]);
    }

    #[test]
    fn a_quote_that_is_not_closed_is_said() {
        assert_eq!(split("curl ^\"http://a").unwrap_err(), "a \" is not closed");
    }
}
