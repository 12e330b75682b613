//! Runs of one experiment over time: `plimsoll history`. A figure of one arm in each run, and where it changed.

pub mod html;
pub mod text;

use crate::judgement::validity;
use crate::record::metric::Metric;
use crate::record::{Effect, MethodName, Summary, Unit, VerdictResult};
use crate::statistics::change_points;
use serde::Serialize;

/// One run, as far as a history needs it.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// Its directory, for people.
    pub location: String,
    /// When it began, as its manifest says: RFC 3339.
    pub started_at: String,
    /// Its summary.
    pub summary: Summary,
}

/// A figure over runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct History {
    /// The experiment.
    pub experiment: String,
    /// The arm.
    pub arm: String,
    /// A path below `arms.<arm>`.
    pub metric: String,
    /// Runs with a value that stands, in order of their time.
    pub points: Vec<Point>,
    /// Where the figure changed.
    pub changes: Vec<Change>,
    /// Runs that were left out, and why.
    pub left_out: Vec<String>,
}

/// A run's figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// When the run began.
    pub started_at: String,
    /// Its directory.
    pub location: String,
    /// The figure, in the summary's unit.
    pub value: f64,
}

/// A change of the figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The place in `points` of the first run after it.
    pub at: usize,
    /// When that run began.
    pub started_at: String,
    /// Mean since the change before.
    pub before: f64,
    /// Mean up to the next.
    pub after: f64,
    /// `after` over `before`, less one.
    pub share: f64,
    /// The share of shuffled series with a larger split.
    pub p: f64,
}

/// The history of a figure. Runs by time; those whose measurement does not carry the figure, and interrupted ones, are left out.
#[must_use]
pub fn history(runs: &[Recorded], experiment: &str, arm: &str, metric: &Metric) -> History {
    let mut of_experiment: Vec<&Recorded> = runs
        .iter()
        .filter(|run| run.summary.experiment == experiment)
        .collect();
    of_experiment.sort_by(|a, b| a.started_at.cmp(&b.started_at));
    let (mut points, mut left_out) = (Vec::new(), Vec::new());
    for run in of_experiment {
        match value(run, arm, metric) {
            Ok(value) => points.push(Point {
                started_at: run.started_at.clone(),
                location: run.location.clone(),
                value,
            }),
            Err(why) => left_out.push(format!("{}: {why}", run.location)),
        }
    }
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    // The seed is part of the method: the same runs give the same changes.
    let found = change_points(&values, 1).into_iter();
    let changes = found.map(|change| Change {
        at: change.at,
        started_at: points[change.at].started_at.clone(),
        before: change.before,
        after: change.after,
        share: change.after / change.before - 1.0,
        p: change.p,
    });
    History {
        experiment: experiment.to_owned(),
        arm: arm.to_owned(),
        metric: metric.path(),
        changes: changes.collect(),
        points,
        left_out,
    }
}

/// A run's figure, or why it has none.
fn value(run: &Recorded, arm: &str, metric: &Metric) -> Result<f64, String> {
    let summary = &run.summary;
    let figures = summary
        .arms
        .get(arm)
        .ok_or_else(|| format!("it has no arm `{arm}`"))?;
    if summary.verdict.result == VerdictResult::Unknown {
        return Err("nothing was concluded from it".to_owned());
    }
    if let Some(why) = of_several_loads(summary.method, metric) {
        return Err(why.to_owned());
    }
    let row = validity::strongest(&summary.validity, arm, metric);
    if let Some(row) = row.filter(|row| row.effect == Effect::Invalid) {
        return Err(format!("criterion {} rules the figure out", row.criterion));
    }
    if let Some(why) = invalid_without_row(summary) {
        return Err(why);
    }
    let value = metric.read(figures).value;
    value.ok_or_else(|| "it has no such figure".to_owned())
}

/// Figures of several loads together, or of one whose rate was another each time, are no figures of the target.
fn of_several_loads(method: MethodName, metric: &Metric) -> Option<&'static str> {
    match method {
        MethodName::Levels if metric.level().is_none() => Some(
            "its figure is of all levels together: name one, such as `levels.50/s.response_time.p99`",
        ),
        MethodName::Capacity if !metric.is_below("capacity") => Some(
            "its figure is of one trial of a search, whose rate was found there: write `capacity`",
        ),
        MethodName::Availability if !metric.is_below("availability") => Some(
            "its figure is of all trials together, faults included: name one such as `availability.faults.application.outage.p95`",
        ),
        _ => None,
    }
}

/// Why a run is invalid though no criterion says so: a component died.
fn invalid_without_row(summary: &Summary) -> Option<String> {
    let is_explained = summary
        .validity
        .iter()
        .any(|row| row.effect == Effect::Invalid);
    if summary.verdict.result != VerdictResult::Invalid || is_explained {
        return None;
    }
    let reason = summary.verdict.reasons.first();
    Some(format!(
        "it is invalid: {}",
        reason.map_or("it does not say why", String::as_str)
    ))
}

impl History {
    /// Unit of its figures.
    #[must_use]
    pub fn unit(&self) -> Unit {
        Metric::parse(&self.metric).map_or(Unit::Count, |metric| metric.unit())
    }

    /// The history as JSON.
    ///
    /// # Panics
    /// Never: it holds text and numbers only.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("invariant: text and numbers are JSON")
    }
}
