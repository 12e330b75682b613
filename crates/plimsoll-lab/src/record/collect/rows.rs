//! A fragment as who watches or reads the series wants it: rows, running totals, histograms by tag.

use super::{Collector, in_flight, published};
use crate::record::rundir::series_tag;
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::tally::{GroupTally, StepTally};
use plimsoll_base::time_kind::TimeKind;
use plimsoll_load::fragment::Fragment;
use plimsoll_report::live::{Gauges, Observation, Totals};
use plimsoll_report::record::{GroupRow, LoadModel, LoadRow, SecondTimes, StepRow};
use std::borrow::Cow;

impl Collector {
    /// The fragment as a row of the series.
    #[must_use]
    pub fn row(&self, fragment: &Fragment) -> LoadRow {
        let response = published(fragment, TimeKind::ResponseTime);
        let carried = self.carried_into(fragment).cloned().unwrap_or_default();
        let mut completions = self.completions(fragment);
        completions.merge(&carried.completions);
        let ended = completions.total();
        let length = fragment.covered_s;
        let due = fragment.due.unwrap_or(fragment.intended);
        let due = (fragment.length_s > 0.0).then(|| per_second(due, length));
        LoadRow {
            t: self.start + fragment.start_s,
            arm: self.data.name.clone(),
            block: self.block,
            warmup: fragment.warmup,
            offered_per_s: due.filter(|_| self.data.model == LoadModel::Open),
            sent_per_s: per_second(fragment.sent, length),
            exchanges_per_s: per_second(started(fragment), length),
            achieved_per_s: per_second(ended.answered, length),
            good_per_s: per_second(ended.good, length),
            failed: fragment.steps.iter().map(StepTally::failed).sum(),
            dropped: fragment.dropped,
            active_users: fragment.in_flight + carried.active_users,
            connections: fragment.connections,
            connected: fragment.connected,
            reconnected: fragment.reconnected,
            in_flight: in_flight(fragment) + carried.in_flight,
            waiting: fragment.waiting,
            response_time: SecondTimes::of(&response),
        }
    }

    /// The fragment's steps as rows of the series; none where there is only one step, which the arm's own row says.
    #[must_use]
    pub fn step_rows(&self, fragment: &Fragment) -> Vec<StepRow> {
        if self.steps.len() < 2 {
            return Vec::new();
        }
        let length = fragment.covered_s;
        let mut ended = self.completions(fragment);
        if let Some(carried) = self.carried_into(fragment) {
            ended.merge(&carried.completions);
        }
        let named = fragment.steps.iter().zip(&self.steps);
        named
            .map(|(step, name)| (step, name, ended.step(name)))
            .map(|(step, name, ended)| StepRow {
                t: self.start + fragment.start_s,
                arm: self.data.name.clone(),
                step: name.clone(),
                block: self.block,
                warmup: fragment.warmup,
                exchanges_per_s: per_second(step.sent, length),
                achieved_per_s: per_second(ended.answered, length),
                good_per_s: per_second(ended.good, length),
                failed: step.failed(),
                in_flight: step.in_flight,
                response_time: SecondTimes::of(&step.histogram(TimeKind::ResponseTime)),
            })
            .collect()
    }

    /// The fragment's groups as rows of the series: all that the arm has, also those without a pass in it.
    #[must_use]
    pub fn group_rows(&self, fragment: &Fragment) -> Vec<GroupRow> {
        let length = fragment.covered_s;
        let carried = self.carried_into(fragment);
        let carried = |name: &str| carried.map_or(0, |own| own.completions.group(name));
        let row = |name: &String, group: &GroupTally| GroupRow {
            t: self.start + fragment.start_s,
            arm: self.data.name.clone(),
            group: name.clone(),
            block: self.block,
            warmup: fragment.warmup,
            passes_per_s: per_second(group.count + carried(name), length),
            failed: group.failed,
            duration: SecondTimes::of(&group.duration),
            cumulated_response_time: SecondTimes::of(&group.response_time),
        };
        let none = GroupTally::default();
        let names = self.data.groups.keys();
        names
            .map(|name| row(name, fragment.groups.get(name).unwrap_or(&none)))
            .collect()
    }

    /// Adds the fragment, whose row is `row`, to the running totals.
    pub fn observe(&self, fragment: &Fragment, row: &LoadRow, totals: &mut Totals) {
        let named = self.steps.iter().map(String::as_str).zip(&fragment.steps);
        let gauges = Gauges {
            active_users: row.active_users,
            in_flight: row.in_flight,
            waiting: row.waiting,
            connections: row.connections,
        };
        totals.observe(Observation {
            arm: &self.data.name,
            warmup: fragment.warmup,
            offered: fragment.due.unwrap_or(0),
            sent: fragment.sent,
            dropped: fragment.dropped,
            connected: fragment.connected,
            reconnected: fragment.reconnected,
            gauges: (fragment.length_s > 0.0).then_some(gauges),
            iterations: &fragment.iterations,
            steps: &named.collect::<Vec<_>>(),
            groups: &fragment.groups,
        });
    }

    /// The fragment's histograms by the tags of interval logs.
    #[must_use]
    pub fn tagged<'a>(&self, fragment: &'a Fragment) -> Vec<(String, Cow<'a, TimeHistogram>)> {
        let of_arm = fragment
            .iterations
            .iter()
            .map(|(kind, histogram)| (kind.name().to_owned(), Cow::Borrowed(histogram)));
        let of_exchanges = [
            TimeKind::ResponseTime,
            TimeKind::ServiceTime,
            TimeKind::FirstByteTime,
            TimeKind::BodyTime,
        ]
        .map(|kind| {
            let all = published(fragment, kind);
            (kind.name().to_owned(), Cow::Owned(all))
        });
        let mut tagged: Vec<_> = of_arm.chain(of_exchanges).collect();
        for (step, name) in fragment.steps.iter().zip(&self.steps) {
            for (class, data) in &step.classes {
                let series = data.times.iter().map(|(kind, histogram)| {
                    (
                        series_tag(name, class.name(), kind.name()),
                        Cow::Borrowed(histogram),
                    )
                });
                tagged.extend(series);
            }
        }
        for (name, group) in &fragment.groups {
            for (kind, times) in [
                ("duration", &group.duration),
                ("cumulated_response_time", &group.response_time),
            ] {
                tagged.push((series_tag(name, "group", kind), Cow::Borrowed(times)));
            }
        }
        tagged
    }
}

/// Exchanges that began, over all steps.
fn started(fragment: &Fragment) -> u64 {
    fragment.steps.iter().map(|step| step.sent).sum()
}

#[expect(clippy::cast_precision_loss, reason = "counts of one second")]
fn per_second(count: u64, seconds: f64) -> f64 {
    count as f64 / seconds
}
