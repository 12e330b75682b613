//! Regular expressions as Go reads them, written so that the `regex` crate reads the same.
//!
//! Both are descendants of RE2, and differ in what a file from elsewhere may hold: to Go `\d`, `\w`, `\s` and `\b` are ASCII, `[a&&b]`
//! lists characters, `\<` is `<`, a brace that repeats nothing stands for itself, and `a**` is an error. What Go refuses is refused.
//! Source: package `regexp/syntax` of Go 1.26, its documentation and `parse.go`.

use std::iter::Peekable;
use std::str::Chars;

/// Repetitions beyond which Go refuses.
const MOST_REPETITIONS: u32 = 1000;

/// The expression for [`regex::Regex`].
///
/// # Errors
/// An expression that Go would refuse, or that cannot be said to [`regex::Regex`].
pub(crate) fn translate(pattern: &str) -> Result<String, String> {
    let translation = Translation {
        rest: pattern.chars().peekable(),
        out: String::with_capacity(pattern.len() + 8),
        before: Before::Nothing,
    };
    translation
        .run()
        .map_err(|why| format!("`{pattern}` is not a regular expression of Go: {why}"))
}

/// The element before the next character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing that could be repeated.
    Nothing,
    Atom,
    Repetition,
}

struct Translation<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    before: Before,
}

impl Translation<'_> {
    fn run(mut self) -> Result<String, String> {
        while let Some(next) = self.rest.next() {
            match next {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '*' | '+' | '?' => self.repetition(&next.to_string())?,
                '{' => self.brace()?,
                '|' => {
                    self.out.push('|');
                    self.before = Before::Nothing;
                }
                // What does not close a group is an error to both.
                '.' | '^' | '$' | ')' => {
                    self.out.push(next);
                    self.before = Before::Atom;
                }
                literal => self.literal(literal),
            }
        }
        Ok(self.out)
    }

    fn literal(&mut self, literal: char) {
        match literal {
            '/' | '_' => self.out.push(literal),
            // Of a long path these are nearly all.
            letter if letter.is_ascii_alphanumeric() => self.out.push(letter),
            other => self.out += &regex::escape(other.encode_utf8(&mut [0; 4])),
        }
        self.before = Before::Atom;
    }

    fn atom(&mut self, atom: &str) {
        self.out += atom;
        self.before = Before::Atom;
    }

    fn repetition(&mut self, operator: &str) -> Result<(), String> {
        match self.before {
            Before::Nothing => return Err(format!("`{operator}` repeats nothing")),
            Before::Repetition => {
                return Err(format!("`{operator}` repeats a repetition"));
            }
            Before::Atom => {}
        }
        self.out += operator;
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        self.before = Before::Repetition;
        Ok(())
    }

    /// `{n}`, `{n,}` and `{n,m}` repeat; every other brace stands for itself.
    fn brace(&mut self) -> Result<(), String> {
        let mut ahead = self.rest.clone();
        let Some(bounds) = bounds(&mut ahead) else {
            self.literal('{');
            return Ok(());
        };
        let (from, to) = bounds;
        let most = to.flatten().unwrap_or(from);
        if from > MOST_REPETITIONS || most > MOST_REPETITIONS || most < from {
            return Err(format!(
                "a repetition has at most {MOST_REPETITIONS} times, and no fewer than its first number"
            ));
        }
        self.rest = ahead;
        let operator = match to {
            None => format!("{{{from}}}"),
            Some(None) => format!("{{{from},}}"),
            Some(Some(to)) => format!("{{{from},{to}}}"),
        };
        self.repetition(&operator)
    }

    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        self.before = Before::Nothing;
        if self.rest.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        self.out.push('?');
        if let Some(first) = self.rest.next_if(|next| matches!(next, 'P' | '<')) {
            self.out.push(first);
            // The name, which both read alike.
            return Ok(());
        }
        for next in self.rest.by_ref() {
            self.out.push(next);
            match next {
                'i' | 'm' | 's' | 'U' | '-' => {}
                ':' | ')' => return Ok(()),
                other => return Err(format!("`(?{other}` is no flag")),
            }
        }
        Err("a group is not closed".to_owned())
    }

    fn escape(&mut self) -> Result<(), String> {
        let Some(next) = self.rest.next() else {
            return Err("nothing follows the last `\\`".to_owned());
        };
        if let Some(class) = perl_class(next) {
            self.atom(class);
            return Ok(());
        }
        match next {
            'A' => self.atom("\\A"),
            'z' => self.atom("\\z"),
            'b' => self.atom("(?-u:\\b)"),
            'B' => self.atom("(?-u:\\B)"),
            'p' | 'P' => {
                let class = unicode_class(next, &mut self.rest)?;
                self.atom(&class);
            }
            'Q' => {
                while let Some(next) = self.rest.next() {
                    if next == '\\' && self.rest.next_if_eq(&'E').is_some() {
                        break;
                    }
                    self.literal(next);
                }
            }
            other => {
                let literal = escaped(other, &mut self.rest)?;
                self.literal(literal);
            }
        }
        Ok(())
    }

    fn class(&mut self) -> Result<(), String> {
        let class = Class {
            rest: &mut self.rest,
            out: "[".to_owned(),
        };
        let class = class.run()?;
        self.atom(&class);
        Ok(())
    }
}

/// The content of brackets.
struct Class<'a, 'b> {
    rest: &'a mut Peekable<Chars<'b>>,
    out: String,
}

impl Class<'_, '_> {
    fn run(mut self) -> Result<String, String> {
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut is_first = true;
        loop {
            let Some(next) = self.rest.next() else {
                return Err("a `[` is not closed".to_owned());
            };
            match next {
                ']' if !is_first => {
                    self.out.push(']');
                    return Ok(self.out);
                }
                '[' if self.named()? => {}
                '\\' => self.escape()?,
                literal => self.range(literal)?,
            }
            is_first = false;
        }
    }

    /// `[:alpha:]`, if that is what follows.
    fn named(&mut self) -> Result<bool, String> {
        let mut ahead = self.rest.clone();
        if ahead.next() != Some(':') {
            return Ok(false);
        }
        let text: String = ahead.collect();
        let Some((name, _)) = text.split_once(":]") else {
            return Ok(false);
        };
        const NAMES: [&str; 14] = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print",
            "punct", "space", "upper", "word", "xdigit",
        ];
        if !NAMES.contains(&name.trim_start_matches('^')) {
            return Err(format!("there is no class `[:{name}:]`"));
        }
        self.out += &format!("[:{name}:]");
        for _ in 0..name.chars().count() + 3 {
            self.rest.next();
        }
        Ok(true)
    }

    fn escape(&mut self) -> Result<(), String> {
        let Some(next) = self.rest.next() else {
            return Err("a `[` is not closed".to_owned());
        };
        if let Some(class) = perl_class(next) {
            self.out += class;
            return Ok(());
        }
        if matches!(next, 'p' | 'P') {
            self.out += &unicode_class(next, self.rest)?;
            return Ok(());
        }
        let literal = escaped(next, self.rest)?;
        self.range(literal)
    }

    /// One character, or all from it to another.
    fn range(&mut self, from: char) -> Result<(), String> {
        self.member(from);
        let mut ahead = self.rest.clone();
        if ahead.next() != Some('-') || matches!(ahead.peek(), None | Some(']')) {
            return Ok(());
        }
        *self.rest = ahead;
        let to = match self.rest.next() {
            Some('\\') => {
                let next = self.rest.next().unwrap_or('\\');
                escaped(next, self.rest)?
            }
            Some(literal) => literal,
            None => return Err("a `[` is not closed".to_owned()),
        };
        if to < from {
            return Err(format!("`{from}-{to}` holds nothing"));
        }
        self.out.push('-');
        self.member(to);
        Ok(())
    }

    fn member(&mut self, member: char) {
        match member.is_ascii_punctuation() {
            true => self.out.extend(['\\', member]),
            false => self.out.push(member),
        }
    }
}

/// `n`, `n,` or `n,m` up to a closing brace: the least, and, after a comma, the most.
fn bounds(rest: &mut Peekable<Chars<'_>>) -> Option<(u32, Option<Option<u32>>)> {
    let from = number(rest)?;
    let to = rest.next_if_eq(&',').map(|_| number(rest));
    rest.next_if_eq(&'}').map(|_| (from, to))
}

fn number(rest: &mut Peekable<Chars<'_>>) -> Option<u32> {
    let mut digits = String::new();
    while let Some(digit) = rest.next_if(char::is_ascii_digit) {
        digits.push(digit);
    }
    let leads = digits.len() > 1 && digits.starts_with('0');
    // Beyond what can be counted is beyond what is allowed.
    (!digits.is_empty() && !leads).then(|| digits.parse().unwrap_or(u32::MAX))
}

/// `\d` and its like, which are ASCII.
fn perl_class(name: char) -> Option<&'static str> {
    Some(match name {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        's' => r"[\t\n\f\r ]",
        'S' => r"[^\t\n\f\r ]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        _ => return None,
    })
}

/// `\pL`, `\p{Greek}` and `\p{^Greek}`, of which `kind` was read.
fn unicode_class(kind: char, rest: &mut Peekable<Chars<'_>>) -> Result<String, String> {
    let unclosed = || format!("`\\{kind}` names no class");
    let first = rest.next().ok_or_else(unclosed)?;
    let mut name = String::new();
    if first == '{' {
        loop {
            match rest.next().ok_or_else(unclosed)? {
                '}' => break,
                next => name.push(next),
            }
        }
    } else {
        name.push(first);
    }
    let (is_other, name) = match name.strip_prefix('^') {
        Some(name) => (true, name),
        None => (false, &*name),
    };
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(unclosed());
    }
    let kind = if (kind == 'P') == is_other { 'p' } else { 'P' };
    Ok(format!("\\{kind}{{{name}}}"))
}

/// The one character that an escape stands for; `next` follows the backslash.
fn escaped(next: char, rest: &mut Peekable<Chars<'_>>) -> Result<char, String> {
    let unknown = || format!("there is no escape `\\{next}`");
    let code = match next {
        'a' => 0x07,
        'f' => 0x0c,
        'n' => 0x0a,
        'r' => 0x0d,
        't' => 0x09,
        'v' => 0x0b,
        'x' => return hexadecimal(rest).ok_or_else(unknown),
        '0'..='7' => return octal(next, rest).ok_or_else(unknown),
        mark if mark.is_ascii_punctuation()
            || (mark.is_ascii() && !mark.is_ascii_alphanumeric()) =>
        {
            return Ok(mark);
        }
        _ => return Err(unknown()),
    };
    Ok(char::from(code))
}

fn hexadecimal(rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    let mut digits = String::new();
    if rest.next_if_eq(&'{').is_some() {
        loop {
            match rest.next()? {
                '}' => break,
                digit => digits.push(digit),
            }
        }
    } else {
        digits.extend([rest.next()?, rest.next()?]);
    }
    let are_digits = digits.chars().all(|digit| digit.is_ascii_hexdigit());
    let code = u32::from_str_radix(&digits, 16)
        .ok()
        .filter(|_| are_digits)?;
    char::from_u32(code)
}

/// One digit that is not zero would be a reference back, which there is not.
fn octal(first: char, rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    let is_digit = |next: &char| ('0'..='7').contains(next);
    if first != '0' && !rest.peek().is_some_and(is_digit) {
        return None;
    }
    let mut digits = String::from(first);
    for _ in 0..2 {
        digits.extend(rest.next_if(is_digit));
    }
    u32::from_str_radix(&digits, 8)
        .ok()
        .and_then(char::from_u32)
}
