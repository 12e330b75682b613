//! Functions that make values: each in its own file, listed in [`TABLE`].
//!
//! A function's arguments are compiled with it, so that nothing is looked up or parsed while load runs.

mod base64;
mod counter;
mod hmac;
mod join;
mod json;
mod jwt;
mod now;
mod random;
mod signature;
mod urlencode;
mod uuid;

use super::{Names, Value, ValuePlace};
use crate::plan::Expression;
use crate::scenario::feeder::Feeder;
use crate::scenario::memory::Memory;
use plimsoll_base::document::{list, suggestion};

/// A function with its arguments.
#[derive(Debug, Clone)]
pub(in crate::scenario) enum Function {
    Base64(base64::Base64),
    Counter(counter::Counter),
    Hmac(hmac::Hmac),
    Join(join::Join),
    Json(json::Json),
    Jwt(jwt::Jwt),
    Now(now::Now),
    Random(random::Random),
    UrlEncode(urlencode::UrlEncode),
    Uuid,
}

type Compile = fn(Arguments<'_>) -> Result<Function, String>;

/// Every function by its name.
const TABLE: [(&str, Compile); 12] = [
    ("base64", base64::compile),
    ("base64url", base64::compile_for_urls),
    ("counter", counter::compile),
    ("global", counter::compile_shared),
    ("hmac", hmac::compile),
    ("join", join::compile),
    ("json", json::compile),
    ("jwt", jwt::compile),
    ("now", now::compile),
    ("random", random::compile),
    ("urlencode", urlencode::compile),
    ("uuid", uuid::compile),
];

/// Whether there is a function of this name.
pub(super) fn exists(name: &str) -> bool {
    TABLE.iter().any(|(known, _)| *known == name)
}

/// Compiles a call.
///
/// # Errors
/// The problem, and what to write instead.
pub(super) fn compile(arguments: Arguments<'_>) -> Result<Function, String> {
    let name = arguments.function;
    if let Some((_, compile)) = TABLE.iter().find(|(known, _)| *known == name) {
        return compile(arguments);
    }
    let known: Vec<String> = TABLE.iter().map(|(name, _)| (*name).to_owned()).collect();
    Err(format!(
        "there is no function `{name}`: {}",
        suggestion(name, &known)
    ))
}

impl Function {
    /// Whether it always makes the same.
    pub(super) fn is_constant(&self) -> bool {
        match self {
            Self::Base64(function) => function.text.constant().is_some(),
            Self::UrlEncode(function) => function.text.constant().is_some(),
            Self::Hmac(function) => function.is_constant(),
            Self::Jwt(function) => function.is_constant(),
            Self::Join(function) => function.joined.constant().is_some(),
            Self::Json(function) => function.text.constant().is_some(),
            Self::Counter(_) | Self::Now(_) | Self::Random(_) | Self::Uuid => false,
        }
    }

    /// Appends what it makes.
    pub(super) fn render(&self, feeders: &[Feeder], memory: &mut Memory, out: &mut Vec<u8>) {
        match self {
            Self::Base64(function) => function.render(feeders, memory, out),
            Self::Counter(function) => function.render(memory, out),
            Self::Hmac(function) => function.render(feeders, memory, out),
            Self::Join(function) => function.joined.render(feeders, memory, out),
            Self::Json(function) => function.render(feeders, memory, out),
            Self::Jwt(function) => function.render(feeders, memory, out),
            Self::Now(function) => function.render(out),
            Self::Random(function) => function.render(memory, out),
            Self::UrlEncode(function) => function.render(feeders, memory, out),
            Self::Uuid => uuid::render(memory, out),
        }
    }
}

/// The arguments of a call that is being compiled.
pub(super) struct Arguments<'a> {
    pub(super) function: &'a str,
    given: &'a [Expression],
    names: &'a mut Names,
    place: ValuePlace<'a>,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(
        function: &'a str,
        given: &'a [Expression],
        names: &'a mut Names,
        place: ValuePlace<'a>,
    ) -> Self {
        Self {
            function,
            given,
            names,
            place,
        }
    }

    /// Refuses other numbers of arguments than `least` to `most`; `form` shows how the call is written.
    fn count(&self, least: usize, most: usize, form: &str) -> Result<usize, String> {
        let count = self.given.len();
        if (least..=most).contains(&count) {
            Ok(count)
        } else {
            Err(format!(
                "`{}` has {count} arguments: write `{form}`",
                self.function
            ))
        }
    }

    fn value(&mut self, index: usize) -> Result<Value, String> {
        self.names.expression(&self.given[index], self.place)
    }

    /// An argument that is a word of the function's own, quoted or not.
    fn word(&self, index: usize) -> Option<&'a str> {
        match &self.given[index] {
            Expression::Text(word) | Expression::Variable(word) => Some(word),
            _ => None,
        }
    }

    /// One of a few words.
    fn choice<T: Copy>(&self, index: usize, choices: &[(&str, T)]) -> Result<T, String> {
        let word = self.word(index);
        let chosen = choices.iter().find(|(name, _)| Some(*name) == word);
        chosen.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<String> = choices.iter().map(|(name, _)| (*name).to_owned()).collect();
            format!(
                "argument {} of `{}` is one of its words: write {}",
                index + 1,
                self.function,
                list(&names)
            )
        })
    }

    /// A whole number, written out.
    fn integer<T: std::str::FromStr>(&self, index: usize) -> Result<T, String> {
        self.word(index)
            .and_then(|word| word.parse().ok())
            .ok_or_else(|| {
                format!(
                    "argument {} of `{}` is a whole number that is written out",
                    index + 1,
                    self.function
                )
            })
    }
}
