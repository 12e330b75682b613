//! One exchange of an iteration: what is sent, what its answer must satisfy, and what is taken out of it.

use super::load::Span;
use super::text::Text;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One exchange of an iteration. Its texts are the plan's, or templates (`T`, and `B` for its body) while substitutions are still to be made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step<T = Text, B = T> {
    /// Its name in reports; unique within the plan.
    pub name: String,
    /// The request method, such as `GET`.
    pub method: String,
    /// The request target in origin form, such as `/search?q=x`. Bytes of values that cannot stand in one are percent-encoded.
    pub path: T,
    /// Further fields, sent in this order. `Host` here replaces the target's authority. Control characters of values become spaces.
    #[serde(default)]
    pub headers: Vec<(String, T)>,
    /// The request body.
    #[serde(default)]
    pub body: B,
    /// Replaces [`super::Plan::timeout`] for this step.
    #[serde(default)]
    pub timeout: Option<Duration>,
    /// Waited after the end of the exchange before; the step's intended start is at the end of it. Ignored at the start of an iteration.
    #[serde(default)]
    pub pause: Span,
    /// Predicates on the answer.
    #[serde(default)]
    pub check: Check<T>,
    /// Values taken out of the answer for later steps, in order.
    #[serde(default)]
    pub extract: Vec<Extract>,
    /// Whether redirects are followed; `None`: a redirect is an answer like any other.
    #[serde(default)]
    pub follow: Option<Follow>,
}

/// How redirects are followed. Each hop is an exchange of its own, in a series of its own; check and extraction look at the last answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Follow {
    /// The most hops in a row; one more is a failed check.
    pub most: u32,
    /// The place in [`super::Plan::steps`] under which hops are counted; it is no action of a program.
    pub series: usize,
}

/// Predicates on one answer; an exchange passes when all hold. Each has a name under which its results are counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check<T = Text> {
    /// The permitted statuses. `None`: anything below 400, and nothing is counted as a check.
    #[serde(default)]
    pub status: Option<Vec<u16>>,
    /// Further predicates, in order.
    #[serde(default)]
    pub also: Vec<Predicate<T>>,
}

/// Something that must hold of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Predicate<T = Text> {
    /// A header field is there, and its first value satisfies this.
    Header {
        /// Its name.
        name: String,
        /// Predicate on its value; `None`: any.
        value: Option<Match<T>>,
    },
    /// The body satisfies this.
    Body(Match<T>),
    /// A JSONPath finds something in the body.
    JsonPath {
        /// The query, of RFC 9535.
        path: String,
        /// Text that the first match must equal; `None`: any.
        equals: Option<T>,
    },
    /// The body has so many bytes, before any decoding.
    Size {
        /// At least.
        least: u64,
        /// At most.
        most: u64,
    },
    /// The response time is below this.
    ResponseTime(Duration),
}

/// Something that must hold of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Match<T = Text> {
    /// It is this.
    Equals(T),
    /// This is in it.
    Contains(T),
    /// The regular expression matches somewhere in it.
    Matches(String),
}

/// A value taken out of an answer. Where it is not found and there is no default, the exchange fails under the check `extract NAME`,
/// and the iteration ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// The value's name in later steps.
    pub name: String,
    /// Where it is.
    pub from: Source,
    /// The value where nothing is found.
    #[serde(default)]
    pub default: Option<String>,
}

/// Where something is in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// The first thing that this JSONPath finds in the body.
    JsonPath(String),
    /// The first value of this header field.
    Header(String),
    /// The first capture group of this regular expression, or all that it matches, in the body.
    Regex(String),
    /// The cookie of this name that the answer sets.
    Cookie(String),
}

impl Predicate {
    /// The name under which its results are counted.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Header { name, value } => match value {
                None => format!("header {name}"),
                Some(value) => format!("header {name} {}", value.name()),
            },
            Self::Body(value) => format!("body {}", value.name()),
            Self::JsonPath { path, equals: None } => format!("jsonpath {path}"),
            Self::JsonPath { path, .. } => format!("jsonpath {path} equals"),
            Self::Size { .. } => "size".to_owned(),
            Self::ResponseTime(_) => "response time".to_owned(),
        }
    }
}

impl Match {
    fn name(&self) -> String {
        let shown = |text: &Text| {
            text.constant()
                .map_or_else(String::new, |text| format!(" {text}"))
        };
        match self {
            Self::Equals(text) => format!("equals{}", shown(text)),
            Self::Contains(text) => format!("contains{}", shown(text)),
            Self::Matches(pattern) => format!("matches {pattern}"),
        }
    }
}

impl Extract {
    /// The name of the check that fails where nothing is found.
    #[must_use]
    pub fn check_name(&self) -> String {
        format!("extract {}", self.name)
    }
}

impl<T, B> Step<T, B> {
    /// This step with other texts, which `text` makes of its own, and this body.
    ///
    /// # Errors
    /// The first of `text`.
    pub fn try_map<U, C, E>(
        &self,
        text: &mut impl FnMut(&T) -> Result<U, E>,
        body: C,
    ) -> Result<Step<U, C>, E> {
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| Ok((name.clone(), text(value)?)));
        let headers = headers.collect::<Result<_, E>>()?;
        let also = self.check.also.iter();
        let also = also.map(|predicate| predicate.try_map(text));
        Ok(Step {
            name: self.name.clone(),
            method: self.method.clone(),
            headers,
            check: Check {
                status: self.check.status.clone(),
                also: also.collect::<Result<_, E>>()?,
            },
            path: text(&self.path)?,
            body,
            timeout: self.timeout,
            pause: self.pause,
            extract: self.extract.clone(),
            follow: self.follow,
        })
    }
}

impl<T> Predicate<T> {
    fn try_map<U, E>(&self, text: &mut impl FnMut(&T) -> Result<U, E>) -> Result<Predicate<U>, E> {
        Ok(match self {
            Self::Header { name, value } => Predicate::Header {
                name: name.clone(),
                value: value
                    .as_ref()
                    .map(|value| value.try_map(text))
                    .transpose()?,
            },
            Self::Body(value) => Predicate::Body(value.try_map(text)?),
            Self::JsonPath { path, equals } => Predicate::JsonPath {
                path: path.clone(),
                equals: equals.as_ref().map(text).transpose()?,
            },
            Self::Size { least, most } => Predicate::Size {
                least: *least,
                most: *most,
            },
            Self::ResponseTime(below) => Predicate::ResponseTime(*below),
        })
    }
}

impl<T> Match<T> {
    fn try_map<U, E>(&self, text: &mut impl FnMut(&T) -> Result<U, E>) -> Result<Match<U>, E> {
        Ok(match self {
            Self::Equals(value) => Match::Equals(text(value)?),
            Self::Contains(value) => Match::Contains(text(value)?),
            Self::Matches(pattern) => Match::Matches(pattern.clone()),
        })
    }
}

impl Step {
    /// The names under which results of its checks are counted: the status first, where it has one, then the further predicates, what
    /// is extracted without a default, and whether redirects came to an end.
    #[must_use]
    pub fn checks(&self) -> Vec<String> {
        let status = self.check.status.as_ref().map(|_| "status".to_owned());
        let also = self.check.also.iter().map(Predicate::name);
        let extract = self
            .extract
            .iter()
            .filter(|extract| extract.default.is_none());
        status
            .into_iter()
            .chain(also)
            .chain(extract.map(Extract::check_name))
            .chain(self.follow.map(|_| "redirects".to_owned()))
            .collect()
    }
}
