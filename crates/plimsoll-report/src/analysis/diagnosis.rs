//! Conclusions from published figures of a load test, by arithmetic alone.
//!
//! ```text
//! file --Figures::parse--> Figures --diagnose--> Diagnosis --text::render--> what the terminal shows
//! ```
//!
//! Each law is a file below `law`; it looks at all observations and says what follows, with the arithmetic. Figures that cannot be true are
//! named first, and nothing else is concluded from them. What no law explains is said to be unknown, with the figures that are missing.

mod law;
mod read;
mod schema;
mod stated;
#[cfg(test)]
mod tests;
pub mod text;
mod wire;

pub use schema::SCHEMA;

use plimsoll_base::units::format_number;
use serde::Serialize;
pub(crate) use stated::{Failed, Used};
use std::time::Duration;

/// A processor that is this busy has nothing left to give.
pub(crate) const BUSY: f64 = 0.9;
/// A processor that is this idle is not what others wait for.
pub(crate) const IDLE: f64 = 0.5;

/// A share as a percentage, to a tenth.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", format_number((share * 1_000.0).round() / 10.0))
}

/// Figures of one report.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Name of the tested system.
    pub(crate) name: String,
    pub(crate) observations: Vec<Observation>,
    pub(crate) faults: Option<FaultTable>,
}

/// Figures at one load.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observation {
    pub(crate) name: String,
    /// Build and place of the observations; those of one setup are levels of one load.
    pub(crate) setup: Option<String>,
    /// Requests per second that were to be offered.
    pub(crate) offered: Option<f64>,
    /// Requests per second that were answered.
    pub(crate) rate: Option<f64>,
    /// Users, or connections, each with one request at a time.
    pub(crate) users: Option<f64>,
    /// The shortest and the longest wait of a user between two requests, in seconds, all between equally likely.
    pub(crate) think: Option<(f64, f64)>,
    pub(crate) duration: Option<Duration>,
    /// Requests in all.
    pub(crate) requests: Option<f64>,
    /// Connections that were open at the target.
    pub(crate) connections: Option<f64>,
    /// Seconds.
    pub(crate) shortest: Option<f64>,
    /// Seconds.
    pub(crate) mean: Option<f64>,
    /// Seconds.
    pub(crate) longest: Option<f64>,
    /// Whether requests failed.
    pub(crate) failed: Option<Failed>,
    /// The observation whose rate was not exceeded here.
    pub(crate) no_more_than: Option<String>,
    pub(crate) generator: Option<Processors>,
    /// The program that sent the load, in lower case.
    pub(crate) tool: Option<String>,
    pub(crate) components: Vec<Processors>,
    /// How many connections a pool gives out, and how long it is waited for one, in seconds.
    pub(crate) pool: Option<(f64, f64)>,
}

/// How busy a component is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Processors {
    pub(crate) name: String,
    /// How much of its processors' time it used.
    pub(crate) used: Used,
    /// How many it has.
    pub(crate) count: Option<f64>,
}

/// Faults that were injected, and how often each is expected.
#[derive(Debug, Clone)]
pub(crate) struct FaultTable {
    /// Requests per second while the outages were taken.
    pub(crate) rate: Option<f64>,
    /// The availability that was concluded, as a share of the year.
    pub(crate) claimed: Option<f64>,
    /// Seconds until somebody has repaired what does not come back by itself.
    pub(crate) repair: Option<f64>,
    pub(crate) faults: Vec<Fault>,
}

/// One kind of fault.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) name: String,
    /// Seconds of wrong answers after one.
    pub(crate) outage: f64,
    /// Machines that may have it.
    pub(crate) servers: f64,
    /// The share of requests that it hits.
    pub(crate) impact: f64,
    /// How often one machine has it in a year.
    pub(crate) per_year: f64,
    /// How often it was tried.
    pub(crate) trials: Option<u32>,
}

/// Conclusions from the figures of a report.
#[derive(Debug, Clone, Serialize)]
pub struct Diagnosis {
    /// Name of the tested system.
    pub name: String,
    /// The conclusions, in the order in which they should be read.
    pub conclusions: Vec<Conclusion>,
}

impl Diagnosis {
    /// The diagnosis as JSON.
    ///
    /// # Panics
    /// Never: it holds text only.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("invariant: text is JSON")
    }
}

/// Something that follows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conclusion {
    /// The observations that it follows from; none for what was not observed under a load.
    pub observations: Vec<String>,
    /// In a word or two.
    pub cause: Cause,
    /// The conclusion in a sentence.
    pub statement: String,
    /// The arithmetic, a line each.
    pub evidence: Vec<String>,
    /// Causes that the same figures exclude.
    pub ruled_out: Vec<String>,
}

/// Limit behind a figure, or a flaw of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The load generator had no processor time left.
    Generator,
    /// The plan cannot make more requests, whatever is tested.
    Plan,
    /// A component had no processor time left.
    Processor,
    /// Requests wait for each other while nobody works.
    Serialised,
    /// A pool gives out too few connections; the time limit only hides it.
    Pool,
    /// More was offered than could be answered: a queue grew, and drained afterwards.
    NotSustained,
    /// The figures hold no limit: it was not sought, or it lies higher.
    NotFound,
    /// Time of the users that nobody accounts for.
    Unexplained,
    /// The rate follows the response time.
    ClosedLoop,
    /// The program kept only a part of what it measured.
    PartialRecord,
    /// Time out of service in a year.
    Downtime,
    /// The figures contradict each other.
    Contradiction,
    /// Nothing follows.
    Unknown,
}

impl Cause {
    /// In a word or two.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Generator => "generator-bound",
            Self::Plan => "plan-bound",
            Self::Processor => "processor-bound",
            Self::Serialised => "serialised",
            Self::Pool => "pool-bound",
            Self::NotSustained => "not carried",
            Self::NotFound => "limit not found",
            Self::Unexplained => "unexplained",
            Self::ClosedLoop => "closed loop",
            Self::PartialRecord => "partial record",
            Self::Downtime => "downtime",
            Self::Contradiction => "impossible",
            Self::Unknown => "unknown",
        }
    }
}

impl Observation {
    /// The mean wait of a user between two requests, in seconds.
    pub(crate) fn mean_think(&self) -> Option<f64> {
        self.think
            .map(|(shortest, longest)| shortest.midpoint(longest))
    }

    /// Limit of the plan even if every answer took no time: users by mean think time, per second.
    pub(crate) fn ceiling(&self) -> Option<f64> {
        let think = self.mean_think().filter(|think| *think > 0.0)?;
        Some(self.users? / think)
    }

    /// Whether the generator had nothing left to give: then nothing follows about what it was pointed at.
    pub(crate) fn is_generator_busy(&self) -> bool {
        self.generator
            .as_ref()
            .is_some_and(|one| one.used.is_busy())
    }

    /// Whether somebody had no processor time left.
    pub(crate) fn is_anybody_busy(&self) -> bool {
        self.everybody().any(|one| one.used.is_busy())
    }

    /// The share of the offered rate that was answered, where both are stated.
    pub(crate) fn kept(&self) -> Option<f64> {
        Some(self.rate? / self.offered?)
    }

    /// Generator and components.
    pub(crate) fn everybody(&self) -> impl Iterator<Item = &Processors> {
        self.generator.iter().chain(&self.components)
    }
}

/// Conclusions from some figures.
#[must_use]
pub fn diagnose(figures: &Figures) -> Diagnosis {
    let mut conclusions = law::impossible(figures);
    let possible = figures.without(&conclusions);
    conclusions.extend((law::LAWS.iter()).flat_map(|law| law(&possible)));
    conclusions.extend(law::unknown(&possible, &conclusions));
    Diagnosis {
        name: figures.name.clone(),
        conclusions,
    }
}

impl Figures {
    /// These figures without the observations that these conclusions are about.
    fn without(&self, conclusions: &[Conclusion]) -> Self {
        let mut rest = self.clone();
        rest.observations.retain(|one| {
            let mut named = conclusions.iter().flat_map(|one| &one.observations);
            !named.any(|name| *name == one.name)
        });
        rest
    }

    /// The observations setup by setup, in the order of the file.
    pub(crate) fn setups(&self) -> Vec<Vec<&Observation>> {
        let mut setups: Vec<Vec<&Observation>> = Vec::new();
        for observation in &self.observations {
            match (setups.iter_mut()).find(|levels| levels[0].setup == observation.setup) {
                Some(levels) => levels.push(observation),
                None => setups.push(vec![observation]),
            }
        }
        setups
    }
}
