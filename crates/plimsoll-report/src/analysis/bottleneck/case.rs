//! The evidence: what was seen at one load or at several, in the terms of the laws.

mod point;

use crate::record::{ArmData, Demand, DemandLine, LoadModel};
pub use point::Point;
pub(super) use point::{ComponentSeen, Own};

/// A line that explains less of the variance says nothing.
const EXPLAINED: f64 = 0.9;
/// Users of the closed model who are more, and get no more than this times as much, are too many.
const MORE: f64 = 1.05;
/// A forecast reaches as far as this many times the highest throughput that was seen, and only from throughputs so many times apart.
const FORESEEN: f64 = 4.0;
const APART: f64 = 2.0;
/// Loads of rising rate to the same target, of which the last is where something gave way, if anything did.
#[derive(Debug, Clone)]
pub struct Case {
    points: Vec<Point>,
    /// Processor time by throughput over all loads, by component.
    lines: Vec<(String, DemandLine)>,
    /// The lowest and the highest throughput of all loads.
    throughput: (f64, f64),
    /// Processors of the machine.
    cpus: f64,
}

/// When a component's processors would be used up, as far as that can be said.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Forecast<'a> {
    pub(super) component: &'a str,
    /// Cores that it used at the limit, and those that it can use.
    pub(super) cores: f64,
    pub(super) usable: f64,
    /// The 95 % interval of the rate, exchanges per second.
    pub(super) low_per_s: f64,
    pub(super) high_per_s: f64,
}

impl Case {
    /// One load.
    #[must_use]
    pub fn of_one(data: &ArmData, cpus: u32) -> Self {
        Self::of_points(vec![Point::of(data)], cpus)
    }

    /// Loads in order of their rate, at least one: the first load at which something gave way is the limit, and those above it are left out. Users of the closed model take
    /// all that there is under any load; there the limit is the first load of which more users got no more. Processor time by throughput
    /// is taken over all.
    ///
    /// # Panics
    /// Without a load.
    #[must_use]
    pub fn of_points(mut points: Vec<Point>, cpus: u32) -> Self {
        assert!(!points.is_empty(), "invariant: there is a load");
        let lines = lines(&points);
        let rates = || points.iter().map(|point| point.achieved_per_s);
        let throughput = (
            rates().fold(f64::INFINITY, f64::min),
            rates().fold(0.0, f64::max),
        );
        points.truncate(limit(&points) + 1);
        Self {
            points,
            lines,
            throughput,
            cpus: f64::from(cpus),
        }
    }

    /// The line through what a component used at each throughput.
    pub(super) fn line(&self, component: &str) -> Option<&DemandLine> {
        let (_, line) = self.lines.iter().find(|(name, _)| name == component)?;
        (line.r_squared >= EXPLAINED && line.per_exchange_s > 0.0).then_some(line)
    }

    /// Processor seconds per exchange of a component, and the rate at which all that it may use would be used.
    pub(super) fn ceiling(&self, seen: &ComponentSeen) -> Option<(f64, f64)> {
        let (cores, limit) = (seen.cores?, seen.limit()?);
        if let Some(line) = self.line(&seen.name) {
            let per_s = (limit - line.idle_cores.max(0.0)) / line.per_exchange_s;
            return Some((line.per_exchange_s, per_s));
        }
        let achieved = self.limit().achieved_per_s;
        (cores > 0.0 && achieved > 0.0).then(|| {
            let each = cores / achieved;
            (each, limit / each)
        })
    }

    /// When the processors of a component would be used up: of a line through throughputs that lie apart and come near enough, and of
    /// processors that it can use. Otherwise nobody knows.
    pub(super) fn forecast<'a>(&self, seen: &'a ComponentSeen) -> Option<Forecast<'a>> {
        let (line, cores, usable) = (self.line(&seen.name)?, seen.cores?, seen.usable()?);
        let left = usable - line.idle_cores.max(0.0);
        let at = |each: f64| (each > 0.0).then(|| left / each);
        let reach = 1.96 * line.error_s;
        let (lowest, highest) = self.throughput;
        let is_near = at(line.per_exchange_s)? <= FORESEEN * highest;
        (is_near && highest >= APART * lowest).then_some(Forecast {
            component: &seen.name,
            cores,
            usable,
            low_per_s: at(line.per_exchange_s + reach)?,
            high_per_s: at(line.per_exchange_s - reach)?,
        })
    }

    /// The load at which something gave way, or else the highest.
    pub(super) fn limit(&self) -> &Point {
        self.points.last().expect("invariant: there is a load")
    }

    /// The lightest load of several: it is below the limit.
    pub(super) fn light(&self) -> Option<&Point> {
        self.points.first().filter(|_| self.points.len() > 1)
    }

    pub(super) fn gave_way(&self) -> bool {
        self.limit().gave_way()
    }

    pub(super) fn cpus(&self) -> f64 {
        self.cpus
    }

    /// Resources that were not looked at.
    pub(super) fn unseen(&self) -> Vec<String> {
        let point = self.limit();
        let mut unseen: Vec<String> = (point.unseen.iter())
            .filter(|(name, _)| {
                point
                    .component(name)
                    .is_none_or(|seen| seen.cores.is_none())
            })
            .map(|(name, why)| format!("{name}: {why}"))
            .collect();
        for seen in point.components.iter().filter(|seen| seen.cores.is_some()) {
            let strain = &seen.strain;
            let missing = [
                (
                    "accept queue",
                    strain.listen_overflows.or(strain.listen_drops).is_none(),
                ),
                ("descriptors", strain.fds_share.is_none()),
                ("throttling", strain.throttled_share.is_none()),
            ];
            let missing: Vec<&str> = (missing.iter())
                .filter(|(_, absent)| *absent)
                .map(|(what, _)| *what)
                .collect();
            if !missing.is_empty() {
                unseen.push(format!("{}: {}", seen.name, missing.join(", ")));
            }
        }
        unseen
    }
}

/// Where the limit is among loads of rising rate; the last one where nothing gave way.
fn limit(points: &[Point]) -> usize {
    let is_limit = |place: &usize| {
        let point = &points[*place];
        let mut later = points[place + 1..].iter();
        match point.model {
            LoadModel::Open => point.gave_way(),
            LoadModel::Closed => {
                later.all(|later| later.achieved_per_s <= MORE * point.achieved_per_s)
            }
        }
    };
    let last = points.len() - 1;
    (0..last).find(is_limit).unwrap_or(last)
}

/// Lines through the seconds of all loads, by component.
fn lines(points: &[Point]) -> Vec<(String, DemandLine)> {
    let mut merged: Vec<(&String, Demand)> = Vec::new();
    for seen in points.iter().flat_map(|point| &point.components) {
        match merged.iter_mut().find(|(known, _)| **known == seen.name) {
            Some((_, own)) => own.merge(&seen.demand),
            None => merged.push((&seen.name, seen.demand)),
        }
    }
    let lines = merged.into_iter();
    lines
        .filter_map(|(name, demand)| Some((name.clone(), demand.line()?)))
        .collect()
}
