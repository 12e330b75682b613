//! Everything a renderer may use, read from a run directory by the caller.

use crate::record::{EventRow, Manifest, Ranges, SeriesRow, Summary};
use indexmap::IndexMap;
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::tally::{Times, merge_times};
use plimsoll_base::time_kind::TimeKind;
use std::collections::BTreeMap;

/// One finished or interrupted run. Renderers are pure functions of it.
#[derive(Debug, Clone)]
pub struct RunView {
    /// Where the run directory lies, for people; empty when it was not kept.
    pub location: String,
    /// `manifest.json`.
    pub manifest: Manifest,
    /// `summary.json`.
    pub summary: Summary,
    /// `series.jsonl`, in its order.
    pub series: Vec<SeriesRow>,
    /// `events.jsonl`, in its order.
    pub events: Vec<EventRow>,
    /// `hist/<arm>.hlog` merged over the measured time of all blocks, by arm. Arms without a log are absent.
    pub histograms: IndexMap<String, ArmTimes>,
}

/// The histograms of one arm over all of its measured time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ArmTimes {
    /// Of the whole arm, by kind.
    pub times: Times,
    /// Of each step, by how its exchanges ended.
    pub steps: BTreeMap<String, BTreeMap<OutcomeClass, Times>>,
}

impl ArmTimes {
    /// Response times of exchanges that ended in a class that is wanted, of one step or (`None`) of all.
    #[must_use]
    pub fn response(
        &self,
        step: Option<&str>,
        wanted: impl Fn(OutcomeClass) -> bool,
    ) -> TimeHistogram {
        let mut merged = Times::new();
        let steps = self.steps.iter();
        let classes = steps
            .filter(|(name, _)| step.is_none_or(|step| step == name.as_str()))
            .flat_map(|(_, classes)| classes);
        for (_, times) in classes.filter(|(class, _)| wanted(**class)) {
            merge_times(&mut merged, times);
        }
        merged.remove(&TimeKind::ResponseTime).unwrap_or_default()
    }
}

impl RunView {
    /// Sorts response times into other ranges than those of the summary.
    pub fn set_ranges(&mut self, ranges: &Ranges) {
        let passed = |class| class == OutcomeClass::Passed;
        for (name, arm) in &mut self.summary.arms {
            let Some(times) = self.histograms.get(name) else {
                continue;
            };
            arm.ranges = ranges.of(&times.response(None, passed), arm.outcomes.results());
            for (name, step) in &mut arm.by_step {
                let of_step = times.response(Some(name), passed);
                step.ranges = ranges.of(&of_step, step.outcomes.results());
            }
        }
        self.summary.range_bounds = ranges.clone();
    }
}
