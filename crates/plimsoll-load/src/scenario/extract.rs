//! Extractions for later steps, compiled.

use super::answer::Answer;
use super::cookie;
use super::memory::Memory;
use super::path::{JsonPath, as_text};
use super::value::Names;
use crate::plan::{Extract, Source};
use regex::bytes::Regex;

/// One thing to take out of an answer.
#[derive(Debug, Clone)]
pub(super) struct Extraction {
    slot: usize,
    from: From,
    /// The value where nothing is found.
    pub(super) default: Option<Vec<u8>>,
}

#[derive(Debug, Clone)]
enum From {
    JsonPath(JsonPath),
    Header(String),
    Regex(Regex),
    Cookie(Vec<u8>),
}

impl Extraction {
    /// Compiles an extraction; from now on there is a value of its name.
    ///
    /// # Errors
    /// The problem, in words.
    pub(super) fn compile(extract: &Extract, names: &mut Names) -> Result<Self, String> {
        let from = match &extract.from {
            Source::JsonPath(path) => From::JsonPath(JsonPath::parse(path)?),
            Source::Header(name) => From::Header(name.clone()),
            Source::Regex(pattern) => From::Regex(regex(pattern)?),
            Source::Cookie(name) => From::Cookie(name.clone().into_bytes()),
        };
        Ok(Self {
            slot: names.slot(&extract.name),
            from,
            default: extract
                .default
                .as_ref()
                .map(|text| text.clone().into_bytes()),
        })
    }

    /// Whether it looks into the body.
    pub(super) fn needs_body(&self) -> bool {
        matches!(self.from, From::JsonPath(_) | From::Regex(_))
    }

    /// Puts what it finds, or its default, into the user's memory; says whether there was either.
    pub(super) fn apply(&self, answer: &Answer<'_>, memory: &mut Memory) -> bool {
        let found = match &self.from {
            From::JsonPath(path) => {
                let found = answer.json().and_then(|document| path.find(document));
                let mut buffer = String::new();
                let found = found.map(|found| as_text(found, &mut buffer).as_bytes());
                return self.put(found, memory);
            }
            From::Header(name) => answer.head.field(name),
            From::Regex(regex) => answer.body().and_then(|body| {
                let captures = regex.captures(body)?;
                let group = captures.get(1).or_else(|| captures.get(0));
                group.map(|group| group.as_bytes())
            }),
            From::Cookie(name) => {
                let mut last = None;
                answer.head.each_field("set-cookie", |field| {
                    if let Some((set, value)) = cookie::name_and_value(field)
                        && set == name.as_slice()
                    {
                        last = Some(value);
                    }
                });
                last
            }
        };
        self.put(found, memory)
    }

    /// The value found last in this iteration, if any was.
    pub(super) fn value<'a>(&self, memory: &'a Memory) -> Option<&'a [u8]> {
        memory.is_set(self.slot).then(|| memory.slot(self.slot))
    }

    fn put(&self, found: Option<&[u8]>, memory: &mut Memory) -> bool {
        match found.or(self.default.as_deref()) {
            Some(value) => {
                memory.set(self.slot, value);
                true
            }
            None => false,
        }
    }
}

/// Compiles a regular expression over bytes, of a limited size.
///
/// # Errors
/// The problem, in words.
pub(super) fn regex(pattern: &str) -> Result<Regex, String> {
    regex::bytes::RegexBuilder::new(pattern)
        .size_limit(1 << 20)
        .build()
        .map_err(|error| {
            let shown = error.to_string();
            let last = shown.lines().last().unwrap_or_default();
            let reason = last.trim().trim_start_matches("error: ").to_owned();
            format!("`{pattern}` is no regular expression: {reason}")
        })
}
