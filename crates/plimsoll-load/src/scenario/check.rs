//! Checks and extractions of an answer, compiled.
//!
//! A step without further predicates, extractions and redirects is judged by its status alone, and its body is not kept.

use super::answer::Answer;
use super::condition::contains;
use super::extract::{Extraction, regex};
use super::feeder::Feeder;
use super::memory::Memory;
use super::path::{JsonPath, as_text};
use super::value::{Names, Value, ValuePlace};
use crate::clock::{Nanos, nanos};
use crate::plan::{Match, Predicate, Step, StepPlace};
use plimsoll_base::single_exchange::SingleExchange;
use regex::bytes::Regex;
use std::ops::RangeInclusive;

/// Everything that is asked of a step's answers.
#[derive(Debug, Clone)]
pub(crate) struct Judge {
    statuses: Option<Vec<RangeInclusive<u16>>>,
    predicates: Vec<Compiled>,
    extractions: Vec<Extraction>,
    follows: bool,
    needs_body: bool,
}

/// How a judgement came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Judged {
    /// Whether every check held; `None` without any.
    pub(crate) passed: Option<bool>,
    /// Whether the iteration can go on: nothing that it needs is missing.
    pub(crate) complete: bool,
}

#[derive(Debug, Clone)]
enum Compiled {
    Header(String, Option<Matcher>),
    Body(Matcher),
    JsonPath(JsonPath, Option<Value>),
    Size(RangeInclusive<u64>),
    ResponseTime(Nanos),
}

#[derive(Debug, Clone)]
enum Matcher {
    Equals(Value),
    Contains(Value),
    Matches(Regex),
}

impl Judge {
    /// Compiles what a step asks of its answers; problems are put among the others.
    pub(super) fn compile(
        step: &Step,
        names: &mut Names,
        problems: &mut Vec<(StepPlace, String)>,
    ) -> Self {
        let mut predicates = Vec::new();
        for (index, predicate) in step.check.also.iter().enumerate() {
            match Compiled::compile(predicate, names) {
                Ok(compiled) => predicates.push(compiled),
                Err(message) => problems.push((StepPlace::Predicate(index), message)),
            }
        }
        let mut extractions = Vec::new();
        for (index, extract) in step.extract.iter().enumerate() {
            match Extraction::compile(extract, names) {
                Ok(extraction) => extractions.push(extraction),
                Err(message) => problems.push((StepPlace::Extract(index), message)),
            }
        }
        let needs_body = predicates.iter().any(Compiled::needs_body)
            || extractions.iter().any(Extraction::needs_body);
        Self {
            statuses: step.check.status.as_deref().map(ranges),
            predicates,
            extractions,
            follows: step.follow.is_some(),
            needs_body,
        }
    }

    /// Whether there is nothing to look at but the status.
    pub(crate) fn is_plain(&self) -> bool {
        self.predicates.is_empty() && self.extractions.is_empty() && !self.follows
    }

    /// Whether later steps need something of the answer.
    pub(crate) fn is_needed(&self) -> bool {
        let mut extractions = self.extractions.iter();
        extractions.any(|extraction| extraction.default.is_none())
    }

    /// Whether the body must be kept.
    pub(crate) fn needs_body(&self) -> bool {
        self.needs_body
    }

    /// The beginnings of what the last answer was asked for, where it was there, in the order of [`Step::extract`].
    pub(crate) fn extracted<'a>(
        &'a self,
        memory: &'a Memory,
    ) -> impl Iterator<Item = Option<String>> + 'a {
        let extractions = self.extractions.iter();
        extractions.map(|extraction| {
            let value = extraction.value(memory)?;
            let beginning = &value[..value.len().min(SingleExchange::VALUE_BYTES)];
            Some(String::from_utf8_lossy(beginning).into_owned())
        })
    }

    /// Whether the status is permitted; `None` where nothing is said about it.
    pub(crate) fn status(&self, status: u16) -> Option<bool> {
        let ranges = self.statuses.as_ref()?;
        Some(ranges.iter().any(|range| range.contains(&status)))
    }

    /// Judges an answer, and takes out of it what later steps want. `results` gets one entry for each of [`Step::checks`].
    pub(crate) fn judge(
        &self,
        answer: &Answer<'_>,
        feeders: &[Feeder],
        memory: &mut Memory,
        redirects: Redirects,
        results: &mut Vec<bool>,
    ) -> Judged {
        results.clear();
        results.extend(self.status(answer.status));
        for predicate in &self.predicates {
            results.push(predicate.holds(answer, feeders, memory));
        }
        let mut complete = true;
        for extraction in &self.extractions {
            let found = extraction.apply(answer, memory);
            complete &= found;
            if extraction.default.is_none() {
                results.push(found);
            }
        }
        if self.follows {
            results.push(redirects == Redirects::Done);
        }
        let accepted = self.statuses.is_some() || answer.status < 400;
        Judged {
            passed: (!results.is_empty()).then(|| accepted && results.iter().all(|passed| *passed)),
            complete,
        }
    }
}

/// Whether redirects came to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Redirects {
    Done,
    /// One more would have followed than is allowed, or it leads elsewhere.
    Open,
}

impl Compiled {
    fn compile(predicate: &Predicate, names: &mut Names) -> Result<Self, String> {
        Ok(match predicate {
            Predicate::Header { name, value } => {
                let value = value.as_ref();
                let matcher = value.map(|value| Matcher::compile(value, names));
                Self::Header(name.clone(), matcher.transpose()?)
            }
            Predicate::Body(value) => Self::Body(Matcher::compile(value, names)?),
            Predicate::JsonPath { path, equals } => {
                let equals = equals.as_ref();
                let equals = equals.map(|text| names.text(text, ValuePlace::Elsewhere));
                Self::JsonPath(JsonPath::parse(path)?, equals.transpose()?)
            }
            Predicate::Size { least, most } if least <= most => Self::Size(*least..=*most),
            Predicate::Size { least, most } => {
                return Err(format!(
                    "no body has at least {least} and at most {most} bytes"
                ));
            }
            Predicate::ResponseTime(below) => Self::ResponseTime(nanos(*below)),
        })
    }

    fn needs_body(&self) -> bool {
        matches!(self, Self::Body(_) | Self::JsonPath(..))
    }

    fn holds(&self, answer: &Answer<'_>, feeders: &[Feeder], memory: &mut Memory) -> bool {
        match self {
            Self::Header(name, matcher) => answer.head.field(name).is_some_and(|value| {
                let matcher = matcher.as_ref();
                matcher.is_none_or(|matcher| matcher.holds(value, feeders, memory))
            }),
            Self::Body(matcher) => answer
                .body()
                .is_some_and(|body| matcher.holds(body, feeders, memory)),
            Self::JsonPath(path, equals) => {
                let found = answer.json().and_then(|document| path.find(document));
                found.is_some_and(|found| {
                    let Some(expected) = equals else {
                        return true;
                    };
                    let mut buffer = String::new();
                    let found = as_text(found, &mut buffer).as_bytes();
                    with(expected, feeders, memory, |expected| found == expected)
                })
            }
            Self::Size(range) => range.contains(&answer.body_bytes),
            Self::ResponseTime(below) => answer.response < *below,
        }
    }
}

impl Matcher {
    fn compile(value: &Match, names: &mut Names) -> Result<Self, String> {
        Ok(match value {
            Match::Equals(text) => Self::Equals(names.text(text, ValuePlace::Elsewhere)?),
            Match::Contains(text) => Self::Contains(names.text(text, ValuePlace::Elsewhere)?),
            Match::Matches(pattern) => Self::Matches(regex(pattern)?),
        })
    }

    fn holds(&self, text: &[u8], feeders: &[Feeder], memory: &mut Memory) -> bool {
        match self {
            Self::Equals(value) => with(value, feeders, memory, |expected| text == expected),
            Self::Contains(value) => {
                with(value, feeders, memory, |expected| contains(text, expected))
            }
            Self::Matches(regex) => regex.is_match(text),
        }
    }
}

/// Shows a value to a function.
fn with<T>(
    value: &Value,
    feeders: &[Feeder],
    memory: &mut Memory,
    look: impl FnOnce(&[u8]) -> T,
) -> T {
    if let Some(constant) = value.constant() {
        return look(constant);
    }
    let mut buffer = memory.take_scratch();
    value.render(feeders, memory, &mut buffer);
    let result = look(&buffer);
    memory.give_back(buffer);
    result
}

/// Neighbouring statuses as ranges.
fn ranges(statuses: &[u16]) -> Vec<RangeInclusive<u16>> {
    let mut sorted = statuses.to_vec();
    sorted.sort_unstable();
    let mut ranges: Vec<RangeInclusive<u16>> = Vec::new();
    for status in sorted {
        match ranges.last_mut() {
            Some(last) if *last.end() + 1 >= status => *last = *last.start()..=status,
            _ => ranges.push(status..=status),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_statuses_are_one_range() {
        assert_eq!(
            ranges(&[204, 200, 201, 404, 201]),
            [200..=201, 204..=204, 404..=404]
        );
    }
}
