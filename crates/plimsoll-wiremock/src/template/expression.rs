//! Expressions within braces: literals, paths, calls of helpers with arguments and options.

use super::helper;
use super::render::Helper;
use super::render::program::{Call, Expression, Path, TemplatePlace};

/// Calls within calls.
const DEEPEST: usize = 32;

/// A word of an expression.
#[derive(Debug, Clone, PartialEq)]
enum Word<'a> {
    Open,
    Close,
    Quoted(&'a str),
    Plain(&'a str),
    /// `name=`: its value follows.
    Option(&'a str),
}

/// The content of `{{…}}`: a value, or a call.
pub fn output(text: &str, place: TemplatePlace) -> Result<Expression, String> {
    let words = words(text)?;
    let name = match words.first() {
        Some(Word::Plain(name)) => *name,
        Some(Word::Open) => {
            let mut reader = Reader {
                words: &words,
                next: 0,
                place,
            };
            let value = reader.value(0)?;
            return reader
                .ended()
                .then_some(value)
                .ok_or_else(|| "one value is enough".to_owned());
        }
        _ => return Err("a path or a helper stands first".to_owned()),
    };
    if let Some(helper) = helper::find(name) {
        let call = arguments(helper, &words[1..], place)?;
        return Ok(Expression::Call(Box::new(call)));
    }
    if words.len() > 1 {
        return Err(helper::unknown(name));
    }
    match plain(name)? {
        path @ Expression::Path(_) => Ok(path),
        _ => Err("a path or a helper stands first".to_owned()),
    }
}

/// A call whose arguments are `text`.
pub fn call(helper: &'static Helper, text: &str, place: TemplatePlace) -> Result<Call, String> {
    arguments(helper, &words(text)?, place)
}

fn arguments(
    helper: &'static Helper,
    words: &[Word<'_>],
    place: TemplatePlace,
) -> Result<Call, String> {
    let mut reader = Reader {
        words,
        next: 0,
        place,
    };
    let call = reader.call(helper, 0)?;
    if reader.ended() {
        Ok(call)
    } else {
        Err("`)` has no beginning".to_owned())
    }
}

fn words(text: &str) -> Result<Vec<Word<'_>>, String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '(' => {
                words.push(Word::Open);
                1
            }
            ')' => {
                words.push(Word::Close);
                1
            }
            '"' | '\'' => {
                let end = rest[1..].find(first).ok_or("a quote has no end")?;
                words.push(Word::Quoted(&rest[1..=end]));
                end + 2
            }
            _ => {
                let end = end_of_plain(rest);
                if rest[end..].starts_with('=') {
                    words.push(Word::Option(&rest[..end]));
                    end + 1
                } else {
                    words.push(Word::Plain(&rest[..end]));
                    end
                }
            }
        };
        rest = rest[length..].trim_start();
    }
    Ok(words)
}

/// A plain word ends at white space, a parenthesis or `=`, outside brackets.
fn end_of_plain(text: &str) -> usize {
    let mut in_brackets = false;
    let end = text.find(|c: char| {
        in_brackets = match c {
            '[' => true,
            ']' => false,
            _ => in_brackets,
        };
        !in_brackets && (c.is_whitespace() || "()=".contains(c))
    });
    end.unwrap_or(text.len()).max(1)
}

struct Reader<'w, 'a> {
    words: &'w [Word<'a>],
    next: usize,
    place: TemplatePlace,
}

impl<'a> Reader<'_, 'a> {
    fn ended(&self) -> bool {
        self.next == self.words.len()
    }

    fn call(&mut self, helper: &'static Helper, depth: usize) -> Result<Call, String> {
        let (mut arguments, mut options) = (Vec::new(), Vec::new());
        while let Some(word) = self.words.get(self.next) {
            match word {
                Word::Close => break,
                Word::Option(name) => {
                    self.next += 1;
                    options.push(((*name).to_owned(), self.value(depth)?));
                }
                _ => arguments.push(self.value(depth)?),
            }
        }
        let prepared = helper::prepare(helper, &arguments);
        Ok(Call {
            helper,
            arguments,
            options,
            prepared,
            place: self.place,
        })
    }

    fn value(&mut self, depth: usize) -> Result<Expression, String> {
        let word = self.words.get(self.next).ok_or("a value is missing")?;
        self.next += 1;
        match word {
            Word::Quoted(text) => Ok(Expression::Text((*text).to_owned())),
            Word::Plain(text) => plain(text),
            Word::Open => self.nested(depth + 1),
            Word::Close | Word::Option(_) => Err("a value is missing".to_owned()),
        }
    }

    /// `(helper …)`, or a path in parentheses.
    fn nested(&mut self, depth: usize) -> Result<Expression, String> {
        if depth > DEEPEST {
            return Err(format!("more than {DEEPEST} calls within each other"));
        }
        let name = match self.words.get(self.next) {
            Some(Word::Plain(name)) => *name,
            None => return Err("`(` has no end".to_owned()),
            Some(_) => return Err("a helper stands first in parentheses".to_owned()),
        };
        self.next += 1;
        let value = match helper::find(name) {
            Some(helper) => Expression::Call(Box::new(self.call(helper, depth)?)),
            None if self.words.get(self.next) == Some(&Word::Close) => plain(name)?,
            None => return Err(helper::unknown(name)),
        };
        if self.words.get(self.next) != Some(&Word::Close) {
            return Err("`(` has no end".to_owned());
        }
        self.next += 1;
        Ok(value)
    }
}

/// A literal without quotes, or a path.
fn plain(text: &str) -> Result<Expression, String> {
    Ok(match text {
        "true" => Expression::Bool(true),
        "false" => Expression::Bool(false),
        "null" | "undefined" => Expression::Nothing,
        _ if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => number(text)?,
        _ => Expression::Path(path(text)?),
    })
}

fn number(text: &str) -> Result<Expression, String> {
    if let Ok(integer) = text.parse() {
        return Ok(Expression::Integer(integer));
    }
    let decimal: Option<f64> = text.parse().ok();
    decimal
        .filter(|decimal| decimal.is_finite())
        .map(Expression::Decimal)
        .ok_or_else(|| format!("`{text}` is neither a number nor a path"))
}

fn path(text: &str) -> Result<Path, String> {
    let (is_data, mut rest) = match text.strip_prefix('@') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut outwards = 0;
    while let Some(after) = rest.strip_prefix("..") {
        outwards += 1;
        rest = after.strip_prefix('/').unwrap_or(after);
    }
    let is_dot = rest == "." || rest.starts_with("./");
    if is_dot {
        rest = rest[1..].trim_start_matches('/');
    }
    let mut segments = segments(rest)
        .filter(|_| !text.contains('|'))
        .ok_or_else(|| format!("`{text}` is not a path"))?;
    let says_this = segments.first().is_some_and(|first| first == "this");
    if says_this {
        segments.remove(0);
    }
    let is_this = is_dot || says_this || (outwards > 0 && segments.is_empty());
    if segments.is_empty() && !is_this {
        return Err(format!("`{text}` is not a path"));
    }
    Ok(Path {
        outwards,
        is_data,
        is_this,
        segments,
    })
}

/// `a.b`, `a/b`, `a.[b c]`; `None` if brackets do not end.
fn segments(text: &str) -> Option<Vec<String>> {
    let mut segments = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (segment, after) = inside.split_once(']')?;
            segments.push(segment.to_owned());
            rest = after;
        } else {
            let end = rest.find(['.', '/', '[']).unwrap_or(rest.len());
            if end == 0 {
                return None;
            }
            segments.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        rest = rest.strip_prefix(['.', '/']).unwrap_or(rest);
    }
    Some(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_segments() {
        let check = |text: &str, outwards: usize, is_this: bool, expected: &[&str]| {
            let path = path(text).unwrap();
            assert_eq!(
                (path.outwards, path.is_this, &*path.segments),
                (
                    outwards,
                    is_this,
                    &*expected.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>()
                ),
                "{text}"
            );
        };
        check("a.b", 0, false, &["a", "b"]);
        check("a/b", 0, false, &["a", "b"]);
        check("a.[0].c", 0, false, &["a", "0", "c"]);
        check("a[b.c]", 0, false, &["a", "b.c"]);
        check("this.a", 0, true, &["a"]);
        check("./a", 0, true, &["a"]);
        check(".", 0, true, &[]);
        check("../../a", 2, false, &["a"]);
        check("..", 1, true, &[]);
        check("../this", 1, true, &[]);
        for bad in ["a..b", "a.[b", ""] {
            assert!(path(bad).is_err(), "{bad}");
        }
        assert!(path("@../index").unwrap().is_data);
    }
}
