//! One exchange of an iteration: what is sent, what its answer must satisfy, and what is taken out of it.

use super::load::Span;
use super::text::Text;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One exchange of an iteration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What reports call it; unique within the plan.
    pub name: String,
    /// The request method, such as `GET`.
    pub method: String,
    /// The request target in origin form, such as `/search?q=x`. Bytes of values that cannot stand in one are percent-encoded.
    pub path: Text,
    /// Further fields, sent in this order. `Host` here replaces the target's authority. Control characters of values become spaces.
    #[serde(default)]
    pub headers: Vec<(String, Text)>,
    /// The request body.
    #[serde(default)]
    pub body: Text,
    /// Replaces [`super::Plan::timeout`] for this step.
    #[serde(default)]
    pub timeout: Option<Duration>,
    /// Waited after the end of the exchange before; the step's intended start is at the end of it. Ignored at the start of an iteration.
    #[serde(default)]
    pub pause: Span,
    /// What an answer must satisfy.
    #[serde(default)]
    pub check: Check,
    /// What later steps want to know of the answer, in order.
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
pub struct Check {
    /// The permitted statuses. `None`: anything below 400, and nothing is counted as a check.
    #[serde(default)]
    pub status: Option<Vec<u16>>,
    /// Further predicates, in order.
    #[serde(default)]
    pub also: Vec<Predicate>,
}

/// Something that must hold of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Predicate {
    /// A header field is there, and its first value satisfies this.
    Header {
        /// Its name.
        name: String,
        /// What its value must satisfy; `None`: nothing.
        value: Option<Match>,
    },
    /// The body satisfies this.
    Body(Match),
    /// A JSONPath finds something in the body.
    JsonPath {
        /// The query, of RFC 9535.
        path: String,
        /// What the first thing found must equal, as text; `None`: nothing.
        equals: Option<Text>,
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
pub enum Match {
    /// It is this.
    Equals(Text),
    /// This is in it.
    Contains(Text),
    /// The regular expression matches somewhere in it.
    Matches(String),
}

/// What is taken out of an answer. Where it is not found and there is no default, the exchange fails under the check `extract NAME`,
/// and the iteration ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// What later steps call it.
    pub name: String,
    /// Where it is.
    pub from: Source,
    /// What it is where nothing is found.
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
