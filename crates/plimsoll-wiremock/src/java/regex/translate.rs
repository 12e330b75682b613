//! Rewrites a Java pattern (`java.util.regex.Pattern`, Java 11–21) into the same pattern for `fancy-regex`.
//!
//! Differences that are rewritten: `\d \w \s` are ASCII in Java; `\h` and `\v` are classes of white space; `\Q…\E` quotes;
//! `\p{Alpha}` and its like are ASCII; `~` in a class is a letter like any other. What has no counterpart is refused.

use std::iter::Peekable;
use std::str::Chars;

/// Java's names for ASCII classes (documentation of `Pattern`, "POSIX character classes"), as ranges.
const ASCII_CLASSES: &[(&str, &str)] = &[
    ("ASCII", r"\x00-\x7F"),
    ("Alnum", "0-9A-Za-z"),
    ("Alpha", "A-Za-z"),
    ("Blank", r" \t"),
    ("Cntrl", r"\x00-\x1F\x7F"),
    ("Digit", "0-9"),
    ("Graph", "!-~"),
    ("Lower", "a-z"),
    ("Print", " -~"),
    ("Punct", r"!-/:-@\[-`{-\~"),
    ("Space", r" \t\n\x0B\f\r"),
    ("Upper", "A-Z"),
    ("XDigit", "0-9A-Fa-f"),
];

/// Where the translation stands.
struct Translation<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    /// How many brackets of character classes are open.
    class_depth: usize,
}

/// The pattern for our engine; the error names what cannot be translated.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let mut translation = Translation {
        rest: pattern.chars().peekable(),
        out: String::with_capacity(pattern.len()),
        class_depth: 0,
    };
    while let Some(c) = translation.rest.next() {
        translation.step(c)?;
    }
    Ok(translation.out)
}

impl Translation<'_> {
    fn step(&mut self, c: char) -> Result<(), String> {
        match c {
            '\\' => return self.escape(),
            '[' => {
                self.class_depth += 1;
                self.out.push('[');
                if self.rest.next_if_eq(&'^').is_some() {
                    self.out.push('^');
                }
            }
            ']' if self.class_depth > 0 => {
                self.class_depth -= 1;
                self.out.push(']');
            }
            '~' if self.class_depth > 0 => self.out.push_str(r"\~"),
            '-' if self.class_depth > 0 && self.rest.peek() == Some(&'-') => {
                return Err("`--` in a character class is not available in this version".to_owned());
            }
            '(' if self.class_depth == 0 && self.rest.peek() == Some(&'?') => {
                self.out.push('(');
                return self.check_flags();
            }
            other => self.out.push(other),
        }
        Ok(())
    }

    /// Refuses the inline flags that our engine reads differently: `(?U)` and `(?u)`, `(?d)`.
    fn check_flags(&self) -> Result<(), String> {
        let flags: String = self
            .rest
            .clone()
            .skip(1)
            .take_while(|c| c.is_ascii_alphabetic() || *c == '-')
            .collect();
        let refused = flags.chars().find(|flag| "uUdR".contains(*flag));
        refused.map_or(Ok(()), |flag| {
            Err(format!(
                "the flag `{flag}` is not available in this version"
            ))
        })
    }

    fn escape(&mut self) -> Result<(), String> {
        let Some(escaped) = self.rest.next() else {
            return Err("ends with a lone `\\`".to_owned());
        };
        let ranges = match escaped {
            'Q' => return self.quotation(),
            'p' | 'P' => return self.property(escaped),
            'd' | 'D' => "0-9",
            'w' | 'W' => "0-9A-Z_a-z",
            's' | 'S' => r" \t\n\x0B\f\r",
            'h' | 'H' => r" \t\xA0\u1680\u180E\u2000-\u200A\u202F\u205F\u3000",
            'v' | 'V' => r"\n\x0B\f\r\x85\u2028\u2029",
            'e' => {
                self.out.push_str(r"\x1B");
                return Ok(());
            }
            'A'
            | 'b'
            | 'B'
            | 'z'
            | 'Z'
            | 'k'
            | 't'
            | 'n'
            | 'r'
            | 'f'
            | 'a'
            | 'x'
            | 'u'
            | '1'..='9' => {
                self.out.extend(['\\', escaped]);
                return Ok(());
            }
            '<' | '>' => {
                self.out.push(escaped);
                return Ok(());
            }
            c if c.is_ascii_punctuation() || c.is_whitespace() || !c.is_ascii() => {
                push_literal(&mut self.out, c);
                return Ok(());
            }
            c => return Err(format!("`\\{c}` is not available in this version")),
        };
        self.class(ranges, escaped.is_ascii_uppercase());
        Ok(())
    }

    /// A predefined class: nested when it stands within another one.
    fn class(&mut self, ranges: &str, negated: bool) {
        let sign = if negated { "^" } else { "" };
        self.out.push_str(&format!("[{sign}{ranges}]"));
    }

    /// `\Q…\E`, or to the end.
    fn quotation(&mut self) -> Result<(), String> {
        while let Some(c) = self.rest.next() {
            if c == '\\' && self.rest.next_if_eq(&'E').is_some() {
                return Ok(());
            }
            push_literal(&mut self.out, c);
        }
        Ok(())
    }

    /// `\p{Name}` or `\pL`; names of Java's ASCII classes are replaced, others are left to the engine.
    fn property(&mut self, letter: char) -> Result<(), String> {
        if self.rest.next_if_eq(&'{').is_none() {
            self.out.extend(['\\', letter]);
            return Ok(());
        }
        let name: String = self.rest.by_ref().take_while(|c| *c != '}').collect();
        let ascii = ASCII_CLASSES.iter().find(|(known, _)| *known == name);
        match ascii {
            Some((_, ranges)) => self.class(ranges, letter == 'P'),
            None if name.starts_with("java") => {
                return Err(format!("`\\p{{{name}}}` is not available in this version"));
            }
            None => self.out.push_str(&format!("\\{letter}{{{name}}}")),
        }
        Ok(())
    }
}

/// A character that stands for itself.
fn push_literal(out: &mut String, c: char) {
    if c.is_ascii_punctuation() && !"<>_".contains(c) {
        out.push('\\');
    }
    out.push(c);
}
