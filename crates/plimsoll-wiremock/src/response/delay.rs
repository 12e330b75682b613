//! How long an answer is held back. Pure: sampling takes its randomness as an argument, waiting is left to whoever serves.
//!
//! A stub's fixed delay and its distribution add up, as in WireMock.

mod fixed;
mod lognormal;
mod uniform;

use crate::reader::problem::StubProblem;
use crate::reader::{Node, Problems};
use fixed::Fixed;
use lognormal::LogNormal;
use plimsoll_base::random::Draw;
use std::time::Duration;
use uniform::Uniform;

/// No answer is held back for longer than this, whatever a distribution's tail says.
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Whether sampled delays are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DelayPrecision {
    /// To whole milliseconds, as WireMock does.
    #[default]
    WholeMilliseconds,
    /// Not at all.
    Exact,
}

/// The delay of one stub.
#[derive(Debug, Clone, Default)]
pub struct Delay {
    fixed: Option<Duration>,
    distribution: Option<Distribution>,
}

/// A `delayDistribution`.
#[derive(Debug, Clone)]
enum Distribution {
    Fixed(Fixed),
    LogNormal(LogNormal),
    Uniform(Uniform),
}

impl Delay {
    /// The sum of a fixed delay in milliseconds and a distribution, from a response's two properties.
    pub fn read(
        fixed: Option<&Node<'_>>,
        distribution: Option<&Node<'_>>,
        problems: &mut Problems,
    ) -> Self {
        let fixed = fixed.and_then(|node| node.milliseconds(problems));
        Self {
            fixed: fixed.map(Duration::from_millis),
            distribution: distribution.and_then(|node| Distribution::read(node, problems)),
        }
    }

    /// Whether this never waits.
    pub fn is_none(&self) -> bool {
        self.fixed.is_none_or(|fixed| fixed.is_zero()) && self.distribution.is_none()
    }

    /// One delay; `default` has what this leaves open. `draw` gives the randomness of this request.
    pub fn sample(
        &self,
        default: &Self,
        precision: DelayPrecision,
        draw: impl FnOnce() -> Draw,
    ) -> Duration {
        let sampled = match self.distribution.as_ref().or(default.distribution.as_ref()) {
            None => 0.0,
            Some(Distribution::Fixed(fixed)) => fixed.milliseconds(),
            Some(Distribution::LogNormal(lognormal)) => lognormal.sample(precision, &mut draw()),
            Some(Distribution::Uniform(uniform)) => uniform.sample(precision, &mut draw()),
        };
        let sampled = Duration::try_from_secs_f64(sampled / 1e3).unwrap_or(LONGEST);
        let fixed = self.fixed.or(default.fixed).unwrap_or_default();
        fixed.saturating_add(sampled).min(LONGEST)
    }
}

impl Distribution {
    fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        let Some(kind) = object.get("type") else {
            problems.push(StubProblem::invalid(&node.pointer, "\"type\" is missing"));
            return None;
        };
        let distribution = match kind.value.as_str() {
            Some("lognormal") => LogNormal::read(&mut object, problems).map(Self::LogNormal),
            Some("uniform") => Uniform::read(&mut object, problems).map(Self::Uniform),
            Some("fixed") => Fixed::read(&mut object, problems).map(Self::Fixed),
            _ => return kind.wrong("\"lognormal\", \"uniform\" or \"fixed\"", problems),
        };
        object.finish(&[], problems);
        distribution
    }
}
