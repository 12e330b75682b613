//! Reads a path, character by character.

use super::filter::{COMPARISONS, Filter, Operand};
use super::function::Function;
use super::{JsonPath, Segment};
use crate::java::regex::JavaRegex;
use crate::reader::lenient_json;
use serde_json::Value;

/// Filters within filters.
const DEEPEST: usize = 32;

/// The text that is left to read.
struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

/// Reads a whole text as a path. As in Jayway a path may leave out `$.`.
pub(super) fn path(text: &str) -> Result<JsonPath, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("a path must not be empty".to_owned());
    }
    let with_root;
    let rest = match text.strip_prefix(['$', '@']) {
        Some(rest) => rest,
        None if text.starts_with('[') => text,
        None => {
            with_root = format!(".{text}");
            &with_root
        }
    };
    let mut reader = Reader { rest, depth: 0 };
    let path = reader.segments()?;
    if reader.rest.is_empty() {
        return Ok(path);
    }
    Err(format!("a path cannot go on with `{}`", reader.rest))
}

impl<'a> Reader<'a> {
    fn eat(&mut self, sign: &str) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.eat(sign) {
            return Ok(());
        }
        Err(match self.rest.chars().next() {
            Some(c) => format!("`{sign}` is missing before `{c}`"),
            None => format!("`{sign}` is missing at the end"),
        })
    }

    fn segments(&mut self) -> Result<JsonPath, String> {
        let mut segments = Vec::new();
        while !self.rest.is_empty() {
            if self.eat("..") {
                let segment = match self.rest.starts_with('[') {
                    true => self.bracket()?,
                    false => self.name()?,
                };
                segments.push(Segment::Descend(Box::new(segment)));
            } else if self.eat(".") {
                segments.push(match self.rest.starts_with('[') {
                    true => self.bracket()?,
                    false => self.name()?,
                });
            } else if self.rest.starts_with('[') {
                segments.push(self.bracket()?);
            } else {
                break;
            }
        }
        Ok(JsonPath { segments })
    }

    /// The segment behind a dot: a name, `*`, or a function.
    fn name(&mut self) -> Result<Segment, String> {
        if self.eat("*") {
            return Ok(Segment::Wildcard);
        }
        let end = self
            .rest
            .find(|c: char| c.is_whitespace() || ".[]()=!<>&|,~*/".contains(c))
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() {
            return Err("a name is missing after `.`".to_owned());
        }
        self.rest = rest;
        if !self.eat("(") {
            return Ok(Segment::Name(name.to_owned()));
        }
        let end = self.rest.find(')').ok_or("`)` is missing at the end")?;
        let parameters = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Function::of(name, parameters).map(Segment::Function)
    }

    /// The segment in brackets.
    fn bracket(&mut self) -> Result<Segment, String> {
        self.expect("[")?;
        self.space();
        let segment = if self.eat("*") {
            Segment::Wildcard
        } else if self.eat("?") {
            self.space();
            self.expect("(")?;
            let filter = self.or()?;
            self.expect(")")?;
            Segment::Filter(filter)
        } else if self.rest.starts_with(['\'', '"']) {
            self.names()?
        } else {
            self.numbers()?
        };
        self.space();
        self.expect("]")?;
        Ok(segment)
    }

    fn names(&mut self) -> Result<Segment, String> {
        let mut names = vec![self.quoted()?];
        self.space();
        while self.eat(",") {
            self.space();
            names.push(self.quoted()?);
            self.space();
        }
        Ok(match <[String; 1]>::try_from(names) {
            Ok([name]) => Segment::Name(name),
            Err(names) => Segment::Names(names),
        })
    }

    /// A text in quotes, in which `\` makes the next character stand for itself.
    fn quoted(&mut self) -> Result<String, String> {
        let mut characters = self.rest.char_indices();
        let Some((_, quote @ ('\'' | '"'))) = characters.next() else {
            return Err("a name in quotes is missing".to_owned());
        };
        let mut text = String::new();
        while let Some((at, c)) = characters.next() {
            match c {
                c if c == quote => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => match characters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, escaped)) => text.push(escaped),
                    None => break,
                },
                c => text.push(c),
            }
        }
        Err(format!("{quote} is missing at the end"))
    }

    /// An index, several of them, or a slice.
    fn numbers(&mut self) -> Result<Segment, String> {
        let end = self.rest.find(']').ok_or("`]` is missing at the end")?;
        let (inner, rest) = self.rest.split_at(end);
        let number = |text: &str| {
            let number = text.trim().parse::<i64>();
            number.map_err(|_| format!("`{}` is not an index", text.trim()))
        };
        let segment = if let Some((from, to)) = inner.split_once(':') {
            let bound = |text: &str| match text.trim() {
                "" => Ok(None),
                text => number(text).map(Some),
            };
            Segment::Slice(bound(from)?, bound(to)?)
        } else if inner.contains(',') {
            Segment::Indices(inner.split(',').map(number).collect::<Result<_, _>>()?)
        } else {
            Segment::Index(number(inner)?)
        };
        self.rest = rest;
        Ok(segment)
    }

    fn or(&mut self) -> Result<Filter, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("filters are nested more than {DEEPEST} deep"));
        }
        let mut filters = vec![self.and()?];
        while self.eat("||") {
            filters.push(self.and()?);
        }
        self.depth -= 1;
        Ok(match <[Filter; 1]>::try_from(filters) {
            Ok([filter]) => filter,
            Err(filters) => Filter::Or(filters),
        })
    }

    fn and(&mut self) -> Result<Filter, String> {
        let mut filters = vec![self.predicate()?];
        while self.eat("&&") {
            filters.push(self.predicate()?);
        }
        Ok(match <[Filter; 1]>::try_from(filters) {
            Ok([filter]) => filter,
            Err(filters) => Filter::And(filters),
        })
    }

    fn predicate(&mut self) -> Result<Filter, String> {
        self.space();
        let filter = if self.rest.starts_with('!') {
            self.eat("!");
            Filter::Not(Box::new(self.predicate()?))
        } else if self.eat("(") {
            let filter = self.or()?;
            self.expect(")")?;
            filter
        } else {
            self.comparison()?
        };
        self.space();
        Ok(filter)
    }

    fn comparison(&mut self) -> Result<Filter, String> {
        let left = self.operand()?;
        self.space();
        if self.eat("=~") {
            self.space();
            return Ok(Filter::Matches(left, self.regex()?));
        }
        for (sign, comparison) in COMPARISONS {
            if self.eat(sign) {
                self.space();
                return Ok(Filter::Compare(left, *comparison, self.operand()?));
            }
        }
        if self.rest.starts_with([')', '&', '|']) {
            return Ok(Filter::Exists(left));
        }
        Err(format!("`{}` is not a comparison", self.rest))
    }

    fn operand(&mut self) -> Result<Operand, String> {
        if self.eat("@") {
            return self.segments().map(Operand::Here);
        }
        if self.eat("$") {
            return self.segments().map(Operand::Root);
        }
        let length = match self.rest.as_bytes().first() {
            Some(b'\'' | b'"') => {
                let text = self.quoted()?;
                return Ok(Operand::Literal(Value::String(text)));
            }
            Some(b'[') => closing(self.rest, '[', ']')?,
            Some(b'{') => closing(self.rest, '{', '}')?,
            _ => self
                .rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)))
                .unwrap_or(self.rest.len()),
        };
        let (text, rest) = self.rest.split_at(length);
        let strict = lenient_json::to_strict(text);
        let literal =
            serde_json::from_str(&strict).map_err(|_| format!("`{text}` is not a value"))?;
        self.rest = rest;
        Ok(Operand::Literal(literal))
    }

    /// `/pattern/flags`.
    fn regex(&mut self) -> Result<JavaRegex, String> {
        self.expect("/")?;
        let mut escaped = false;
        let end = self.rest.find(|c| {
            let ends = c == '/' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let end = end.ok_or("`/` is missing at the end")?;
        let pattern = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        let length = self
            .rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(self.rest.len());
        let (flags, rest) = self.rest.split_at(length);
        self.rest = rest;
        if flags.is_empty() {
            return JavaRegex::compile(pattern);
        }
        JavaRegex::compile(&format!("(?{flags}){pattern}"))
    }
}

/// Bytes up to and with the bracket that closes the first one; brackets in quotes do not count.
fn closing(text: &str, open: char, close: char) -> Result<usize, String> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, c) in text.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c == open => depth += 1,
            None if c == close => {
                depth -= 1;
                if depth == 0 {
                    return Ok(at + 1);
                }
            }
            None => {}
        }
    }
    Err(format!("`{close}` is missing at the end"))
}
