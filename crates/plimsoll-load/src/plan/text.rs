//! Text that may differ from iteration to iteration: literal pieces, and values that a virtual user puts in their places.
//!
//! This is the syntax of what stands between `${` and `}`, as far as it is the virtual user's: names of values and calls of functions.
//! Names with a dot or a colon are somebody else's ([`Expression::parse`] asks what they are). What names and functions mean
//! is left to the scenario's compiler.

use serde::{Deserialize, Serialize};

/// Text with values in it. Without any it is the same in every iteration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text(pub Vec<Piece>);

/// A piece of text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Piece {
    /// Stands for itself.
    Literal(String),
    /// Bytes that stand for themselves; base64 in JSON.
    Bytes(#[serde(with = "super::base64_bytes")] Vec<u8>),
    /// Stands for what it gives in the iteration.
    Value(Expression),
}

/// Source of a value. `R` is what else it may refer to: nothing, in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Expression<R = Nothing> {
    /// Itself.
    Text(String),
    /// A reference that is resolved before there is a plan.
    Reference(R),
    /// The value of this name: a column, something extracted, a constant, or one that there always is.
    Variable(String),
    /// Its parts in order, without anything between them.
    Join(Vec<Expression<R>>),
    /// Result of a function.
    Call {
        /// Its name.
        function: String,
        /// In order.
        arguments: Vec<Expression<R>>,
    },
}

/// The type without values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Nothing {}

impl Text {
    /// Whether nothing is sent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|piece| match piece {
            Piece::Literal(text) => text.is_empty(),
            Piece::Bytes(bytes) => bytes.is_empty(),
            Piece::Value(_) => false,
        })
    }

    /// The text where it is the same in every iteration and is text.
    #[must_use]
    pub fn constant(&self) -> Option<String> {
        self.0
            .iter()
            .map(|piece| match piece {
                Piece::Literal(text) => Some(text.as_str()),
                Piece::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
                Piece::Value(_) => None,
            })
            .collect()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(vec![Piece::Literal(text)])
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Self(vec![Piece::Bytes(bytes)])
    }
}

impl<R> Expression<R> {
    /// Parses what stands between `${` and `}`; `refer` says what a name with a dot, a colon or a slash stands for.
    ///
    /// # Errors
    /// The problem, and what to write instead.
    pub fn parse(text: &str, refer: impl Fn(&str) -> Result<R, String>) -> Result<Self, String> {
        let mut parser = Parser {
            rest: text,
            depth: 0,
            refer: &refer,
        };
        let expression = parser.expression()?;
        parser.skip_spaces();
        if parser.rest.is_empty() {
            Ok(expression)
        } else {
            Err(format!(
                "nothing can follow a value, and here `{}` does: texts are written in single quotes, and joined by `join(…)`",
                parser.rest
            ))
        }
    }

    /// This expression with every reference resolved.
    ///
    /// # Errors
    /// The first of `resolve`.
    pub fn resolve<E>(
        &self,
        resolve: &mut impl FnMut(&R) -> Result<String, E>,
    ) -> Result<Expression, E> {
        let mut all = |expressions: &[Self]| {
            expressions
                .iter()
                .map(|expression| expression.resolve(&mut *resolve))
                .collect::<Result<Vec<_>, E>>()
        };
        Ok(match self {
            Self::Text(text) => Expression::Text(text.clone()),
            Self::Reference(reference) => Expression::Text(resolve(reference)?),
            Self::Variable(name) => Expression::Variable(name.clone()),
            Self::Join(parts) => Expression::Join(all(parts)?),
            Self::Call {
                function,
                arguments,
            } => Expression::Call {
                function: function.clone(),
                arguments: all(arguments)?,
            },
        })
    }

    /// Calls `look` for every reference in it.
    pub fn references<'a>(&'a self, look: &mut impl FnMut(&'a R)) {
        match self {
            Self::Text(_) | Self::Variable(_) => {}
            Self::Reference(reference) => look(reference),
            Self::Join(inner)
            | Self::Call {
                arguments: inner, ..
            } => {
                for expression in inner {
                    expression.references(look);
                }
            }
        }
    }
}

/// Whether this names a value: a letter or `_`, then letters, digits, `_` and `-`.
#[must_use]
pub fn is_value_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// How many bytes of `text`, which follows `${`, come before the `}` that closes it; quoted texts may hold braces.
#[must_use]
pub fn closing_brace(text: &str) -> Option<usize> {
    let mut quoted = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'\'' => quoted = !quoted,
            b'}' if !quoted => return Some(at),
            _ => {}
        }
    }
    // A lone quote is no text: let the braces decide, and the parser say what is wrong.
    text.find('}')
}

/// Calls nest no deeper.
const MAX_DEPTH: usize = 16;

struct Parser<'a, F> {
    rest: &'a str,
    depth: usize,
    refer: &'a F,
}

impl<R, F: Fn(&str) -> Result<R, String>> Parser<'_, F> {
    fn expression(&mut self) -> Result<Expression<R>, String> {
        self.skip_spaces();
        if let Some(quoted) = self.rest.strip_prefix('\'') {
            return self.quoted(quoted);
        }
        let end = self
            .rest
            .find([',', '(', ')', '\'', ' '])
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(if rest.is_empty() {
                "a value is missing: write a name, a call such as `uuid()` or a text in single quotes".to_owned()
            } else {
                format!("a value is missing before `{rest}`")
            });
        }
        self.rest = rest;
        if rest.starts_with('(') {
            return self.call(word);
        }
        if word.parse::<f64>().is_ok() {
            return Ok(Expression::Text(word.to_owned()));
        }
        if word.contains(['.', ':', '/']) {
            return (self.refer)(word).map(Expression::Reference);
        }
        if is_value_name(word) {
            return Ok(Expression::Variable(word.to_owned()));
        }
        Err(format!(
            "`{word}` is no name of a value: write letters, digits, `_` and `-`, or a text in single quotes"
        ))
    }

    /// Text up to the closing quote; `\'`, `\\`, `\n`, `\r` and `\t` are understood.
    fn quoted(&mut self, text: &str) -> Result<Expression<R>, String> {
        let mut value = String::new();
        let mut characters = text.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '\'' => {
                    let skip = self.rest.len() - text.len() + at + 1;
                    self.rest = &self.rest[skip..];
                    return Ok(Expression::Text(value));
                }
                '\\' => value.push(match characters.next() {
                    Some((_, 'n')) => '\n',
                    Some((_, 'r')) => '\r',
                    Some((_, 't')) => '\t',
                    Some((_, other @ ('\'' | '\\'))) => other,
                    _ => {
                        return Err(
                            "a backslash in a text is followed by `'`, `\\`, `n`, `r` or `t`"
                                .to_owned(),
                        );
                    }
                }),
                other => value.push(other),
            }
        }
        Err("a text is not closed: write `'` at its end".to_owned())
    }

    fn call(&mut self, function: &str) -> Result<Expression<R>, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("calls nest at most {MAX_DEPTH} deep"));
        }
        let function = function.to_owned();
        self.rest = &self.rest[1..];
        let mut arguments = Vec::new();
        self.skip_spaces();
        if let Some(rest) = self.rest.strip_prefix(')') {
            self.rest = rest;
        } else {
            loop {
                arguments.push(self.expression()?);
                self.skip_spaces();
                if let Some(rest) = self.rest.strip_prefix(',') {
                    self.rest = rest;
                } else if let Some(rest) = self.rest.strip_prefix(')') {
                    self.rest = rest;
                    break;
                } else {
                    return Err(format!(
                        "the call of `{function}` is not closed: write `)` after its arguments"
                    ));
                }
            }
        }
        self.depth -= 1;
        Ok(Expression::Call {
            function,
            arguments,
        })
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(expression: &Expression<String>) -> String {
        let list = |parts: &[Expression<String>]| {
            let shown: Vec<String> = parts.iter().map(shown).collect();
            shown.join(" ")
        };
        match expression {
            Expression::Text(text) => format!("{text:?}"),
            Expression::Reference(reference) => format!("<{reference}>"),
            Expression::Variable(name) => name.clone(),
            Expression::Join(parts) => list(parts),
            Expression::Call {
                function,
                arguments,
            } => format!("{function}({})", list(arguments)),
        }
    }

    fn check(text: &str, expected: &str) {
        let refer = |name: &str| {
            if name.starts_with('.') {
                Err("no".to_owned())
            } else {
                Ok(name.to_owned())
            }
        };
        let parsed = Expression::parse(text, refer);
        assert_eq!(
            parsed.as_ref().map_or_else(Clone::clone, shown),
            expected,
            "{text}"
        );
    }

    #[test]
    fn names_calls_and_texts_parse() {
        check(" user_id ", "user_id");
        check("uuid()", "uuid()");
        check("random(1, 6)", "random(\"1\" \"6\")");
        check(
            r"hmac(sha256, secret.key, join(path, '\n', 'it\'s', body))",
            r#"hmac(sha256 <secret.key> join(path "\n" "it's" body))"#,
        );
        check("base64( env:USER )", "base64(<env:USER>)");
        check("now('%Y }', -5)", "now(\"%Y }\" \"-5\")");
    }

    #[test]
    fn what_cannot_be_parsed_is_explained() {
        check(
            "",
            "a value is missing: write a name, a call such as `uuid()` or a text in single quotes",
        );
        check(
            "f(",
            "a value is missing: write a name, a call such as `uuid()` or a text in single quotes",
        );
        check("f(,)", "a value is missing before `,)`");
        check(
            "f(a",
            "the call of `f` is not closed: write `)` after its arguments",
        );
        check(
            "a b",
            "nothing can follow a value, and here `b` does: texts are written in single quotes, and joined by `join(…)`",
        );
        check("'a", "a text is not closed: write `'` at its end");
        check(
            r"'\x'",
            r"a backslash in a text is followed by `'`, `\`, `n`, `r` or `t`",
        );
        check(
            "a$b",
            "`a$b` is no name of a value: write letters, digits, `_` and `-`, or a text in single quotes",
        );
        check(
            &format!("{}{}", "f(".repeat(17), ")".repeat(17)),
            "calls nest at most 16 deep",
        );
    }

    #[test]
    fn braces_in_texts_close_nothing() {
        assert_eq!(closing_brace("a}b"), Some(1));
        assert_eq!(closing_brace("f('}', '\\'}')}x"), Some(13));
        assert_eq!(closing_brace("it's}"), Some(4));
        assert_eq!(closing_brace("a"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_parsing_panic(text in "[a-z(),' \\\\.:]{0,30}|\\PC{0,30}") {
            drop(Expression::<String>::parse(&text, |name| Ok(name.to_owned())));
            if let Some(at) = closing_brace(&text) {
                prop_assert_eq!(&text[at..=at], "}");
            }
        }
    }
}
