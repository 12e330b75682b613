//! A summary as a tree: from a record to its numbers and to the records below it, by name.

use crate::record::figures::Figures;
use crate::record::times::Timed;
use crate::record::{
    Added, Annual, ArmSummary, AvailabilitySummary, Bounds, CapacitySummary, ComponentSummary,
    Difference, Estimated, ExpectedYear, FailedFailovers, FaultOutages, Gain, GroupSummary,
    LevelSummary, LinkSummary, OutageFigures, Outcomes, Reasons, ServerStatistics, Slopes,
    StepSummary, TimeStatistics, Year,
};
use indexmap::IndexMap;
use plimsoll_base::tally::CheckCount;
use std::collections::BTreeMap;

/// Node or figure below a name.
pub(super) enum Child<'a> {
    /// A number, or `None` without a sample.
    Figure(Option<f64>),
    Node(&'a dyn Node),
}

/// A value and the ends of its interval.
type Quantity = (Option<f64>, Option<(f64, f64)>);

/// A record, or several by name.
pub(super) trait Node {
    /// The node or figure below a name; `None` where there is none.
    fn child(&self, name: &str) -> Option<Child<'_>>;

    /// Its own value, if it is a quantity with an interval.
    fn quantity(&self) -> Quantity {
        (None, None)
    }
}

/// A number of a record.
fn figure<'a, T: Figures>(record: &'a T, name: &str) -> Option<Child<'a>> {
    let figure = T::FIGURES.iter().find(|figure| figure.name == name)?;
    Some(Child::Figure((figure.of)(record)))
}

/// A distribution of a record.
fn time<'a, T: Timed>(record: &'a T, name: &str) -> Option<Child<'a>> {
    let (_, of) = T::TIMES.iter().find(|(time, _)| *time == name)?;
    Some(Child::Node(of(record)))
}

/// A number or a distribution of a record.
fn measure<'a, T: Figures + Timed>(record: &'a T, name: &str) -> Option<Child<'a>> {
    figure(record, name).or_else(|| time(record, name))
}

impl Node for ArmSummary {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let node: &dyn Node = match name {
            "added" => self.added.as_ref()?,
            "outcomes" => &self.outcomes,
            "reasons" => &self.reasons,
            "by_step" => &self.by_step,
            "by_group" => &self.by_group,
            "checks" => &self.checks,
            "components" => &self.components,
            "levels" => &self.levels,
            "capacity" => self.capacity.as_ref()?,
            "links" => &self.links,
            "availability" => self.availability.as_ref()?,
            _ => return measure(self, name).or_else(|| time(&self.times, name)),
        };
        Some(Child::Node(node))
    }
}

impl Node for StepSummary {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let node: &dyn Node = match name {
            "outcomes" => &self.outcomes,
            "reasons" => &self.reasons,
            "checks" => &self.checks,
            _ => return measure(self, name),
        };
        Some(Child::Node(node))
    }
}

impl Node for LevelSummary {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let node: &dyn Node = match name {
            "outcomes" => &self.outcomes,
            "components" => &self.components,
            _ => return measure(self, name),
        };
        Some(Child::Node(node))
    }
}

impl Node for ComponentSummary {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        match name {
            "server" => Some(Child::Node(&self.server)),
            _ => figure(self, name).or_else(|| figure(&self.strain, name)),
        }
    }
}

impl Node for GroupSummary {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        measure(self, name)
    }
}

impl Node for ServerStatistics {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        figure(self, name)
    }
}

impl Node for TimeStatistics {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        figure(self, name)
    }
}

impl Node for Outcomes {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        match name {
            "answered" => Some(Child::Node(&self.answered)),
            _ => figure(self, name),
        }
    }
}

/// Counts of what happened: what did not is absent, and was counted zero times.
impl Node for BTreeMap<String, u64> {
    #[expect(clippy::cast_precision_loss, reason = "as JSON has it")]
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let count = self.get(name).copied().unwrap_or(0);
        Some(Child::Figure(Some(count as f64)))
    }
}

impl Node for Reasons {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        static NONE: BTreeMap<String, u64> = BTreeMap::new();
        Some(Child::Node(self.get(name).unwrap_or(&NONE)))
    }
}

impl Node for BTreeMap<String, CheckCount> {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        self.get(name).map(|count| Child::Node(count as &dyn Node))
    }
}

impl Node for CheckCount {
    #[expect(clippy::cast_precision_loss, reason = "as JSON has it")]
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let count = match name {
            "passed" => self.passed,
            "failed" => self.failed,
            _ => return None,
        };
        Some(Child::Figure(Some(count as f64)))
    }
}

impl<T: Node> Node for IndexMap<String, T> {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        self.get(name)
            .map(|record| Child::Node(record as &dyn Node))
    }
}

impl Node for Vec<LevelSummary> {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let level = self.iter().find(|level| level.name == name);
        level.map(|level| Child::Node(level as &dyn Node))
    }
}

impl Node for Vec<LinkSummary> {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let link = self
            .iter()
            .find(|link| link.name == name || link.link == name);
        link.map(|link| Child::Node(link as &dyn Node))
    }
}

impl Node for LinkSummary {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let node: &dyn Node = match name {
            "slope" => &self.slope,
            "gain" => self.gain.as_ref()?,
            "hinge_s" => self.hinge_s.as_ref()?,
            _ => return figure(self, name),
        };
        Some(Child::Node(node))
    }
}

impl Node for Slopes {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let slope = match name {
            "mean" => &self.mean,
            "p50" => &self.p50,
            "p99" => &self.p99,
            _ => return None,
        };
        Some(Child::Node(slope.as_ref()?))
    }
}

/// A quantity alone: nothing stands below it.
impl Node for Bounds {
    fn child(&self, _: &str) -> Option<Child<'_>> {
        None
    }

    fn quantity(&self) -> Quantity {
        (Some(self.value), Some((self.low, self.high)))
    }
}

impl Node for AvailabilitySummary {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let node: &dyn Node = match name {
            "faults" => &self.faults,
            "annual" => self.annual.as_ref()?,
            _ => return None,
        };
        Some(Child::Node(node))
    }
}

impl Node for Vec<FaultOutages> {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let fault = self.iter().find(|fault| fault.name == name);
        fault.map(|fault| Child::Node(fault as &dyn Node))
    }
}

impl Node for FaultOutages {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let node: &dyn Node = match name {
            "outage" => &self.outage,
            "lost" => self.lost.as_ref()?,
            "failed_failovers" => &self.failed_failovers,
            _ => return figure(self, name),
        };
        Some(Child::Node(node))
    }
}

impl Node for OutageFigures {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let node: &dyn Node = match name {
            "p50" => self.p50.as_ref()?,
            "p95" => self.p95.as_ref()?,
            "mean" => self.mean.as_ref()?,
            _ => return figure(self, name),
        };
        Some(Child::Node(node))
    }
}

impl Node for Estimated {
    fn child(&self, _: &str) -> Option<Child<'_>> {
        None
    }

    fn quantity(&self) -> Quantity {
        (Some(self.value), self.low.zip(self.high))
    }
}

impl Node for FailedFailovers {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        figure(self, name)
    }
}

impl Node for Annual {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let node: &dyn Node = match name {
            "expected" => &self.expected,
            "year" => &self.year,
            _ => return None,
        };
        Some(Child::Node(node))
    }
}

impl Node for ExpectedYear {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        figure(self, name)
    }

    fn quantity(&self) -> Quantity {
        (Some(self.value), Some((self.low, self.high)))
    }
}

impl Node for Year {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        figure(self, name)
    }
}

impl Node for Gain {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        figure(self, name)
    }

    fn quantity(&self) -> Quantity {
        (Some(self.value), Some((self.low, self.high)))
    }
}

impl Node for Added {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        let (_, difference) = self.all().find(|(known, _)| *known == name)?;
        Some(Child::Node(difference))
    }
}

impl Node for Difference {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        figure(self, name)
    }

    fn quantity(&self) -> Quantity {
        (Some(self.value), Some((self.low, self.high)))
    }
}

/// A capacity whose upper end was not found has none.
impl Node for CapacitySummary {
    fn child(&self, name: &str) -> Option<Child<'_>> {
        figure(self, name)
    }

    fn quantity(&self) -> Quantity {
        let upper = self.upper_per_s.unwrap_or(f64::INFINITY);
        (
            self.lower_per_s,
            self.lower_per_s.map(|lower| (lower, upper)),
        )
    }
}
