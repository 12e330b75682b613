//! From what the lab measured to what the run found: merges blocks, judges validity, compares arms, holds thresholds against them.
//!
//! An arm's own figures rest on all of its blocks and carry the marks of what reaches them. A difference rests on those blocks in
//! which its figure stands in both arms.

mod added;
mod arm;
mod blocks;
pub mod drift;
mod levels;
mod links;
mod reading;

use crate::analysis::bottleneck::{self, Case};
use crate::judgement::facts::Facts;
use crate::judgement::threshold::{self, Standing, Threshold};
use crate::record::metric::{Metric, Reading};
use crate::record::{
    Added, ArmBlocks, ArmData, ArmSummary, AvailabilitySummary, Bias, Bottleneck, Breach,
    CallerFigures, CapacitySummary, Comparison, ComponentSummary, DelayRow, DifferenceVerdict,
    Effect, LoadModel, MethodName, Ranges, SUMMARY_SCHEMA, Statistic, Summary, ThresholdOutcome,
    ValidityRow,
};
use crate::statistics::{CONFIDENCE, MARGIN_SHARE, method_for};
use crate::{validity, verdict};
use blocks::Blocks;
use indexmap::IndexMap;
pub use links::may_be_waited_for;
pub use reading::{FailuresAreJudged, read};
use std::collections::BTreeMap;

/// How the experiment was run.
#[derive(Debug, Clone, PartialEq)]
pub enum Method {
    /// Every arm once.
    Measure,
    /// Randomised blocks, each holding every arm once.
    Compare {
        /// The arm that the others are compared with.
        baseline: String,
    },
    /// Every arm at several levels: its blocks are these, by number from 1.
    Levels(Vec<Level>),
    /// A search of each arm: what was found, by arm. Its only block is the trial that stands for the lower bound.
    Capacity(BTreeMap<String, Searched>),
    /// Delays of links: the loads under them, by arm. Its blocks are the loads without any.
    Sensitivity(BTreeMap<String, Vec<DelayRow>>),
    /// Trials of faults: what they found, by arm. Its blocks are the trials that count, by number.
    Availability(BTreeMap<String, AvailabilitySummary>),
}

/// Result of an arm's search.
#[derive(Debug, Clone, PartialEq)]
pub struct Searched {
    /// The answer.
    pub capacity: CapacitySummary,
    /// The bottleneck at its end; `None` where this run did not see it.
    pub bottleneck: Option<Bottleneck>,
}

/// One level of `levels`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// Its rate (`50/s`) or its users (`20 users`).
    pub name: String,
    /// Virtual users of the closed model.
    pub users: Option<u32>,
    /// In which turn of the run it was held, from 1.
    pub turn: u32,
}

impl Method {
    fn name(&self) -> MethodName {
        match self {
            Self::Measure => MethodName::Measure,
            Self::Compare { .. } => MethodName::Compare,
            Self::Levels(_) => MethodName::Levels,
            Self::Capacity(_) => MethodName::Capacity,
            Self::Sensitivity(_) => MethodName::Sensitivity,
            Self::Availability(_) => MethodName::Availability,
        }
    }
}

/// Summarises a run. A threshold on an arm that does not exist reads as "no sample".
#[must_use]
pub fn summarise(
    facts: &Facts,
    method: &Method,
    arms: &[ArmBlocks],
    thresholds: &[Threshold],
) -> Summary {
    let blocks = Blocks::of(arms);
    let mut rows = Vec::new();
    let mut summaries = IndexMap::new();
    let mut loads = IndexMap::new();
    for arm in arms {
        let merged = merge(arm);
        let mut summary = arm::summarise(arm, &merged, &facts.ranges, |block| {
            blocks.void_for(&arm.name, block)
        });
        rows.extend(by_method(method, arm, &merged, facts, &mut summary));
        summaries.insert(arm.name.clone(), summary);
        loads.insert(arm.name.as_str(), Load { arm, merged });
    }
    if let Method::Compare { baseline } = method {
        rows.extend(added::fill(
            &mut summaries,
            arms,
            baseline,
            &blocks,
            facts.seed,
        ));
    }
    let outcomes: Vec<ThresholdOutcome> = thresholds
        .iter()
        .enumerate()
        .map(|(place, wanted)| {
            let breach = facts.breaches.get(&place).copied();
            let reading = read_load(wanted, thresholds, &loads, &summaries);
            hold((wanted, reading), breach, &summaries, &rows, method)
        })
        .collect();
    let mut summary = Summary {
        schema: SUMMARY_SCHEMA.to_owned(),
        experiment: facts.experiment.clone(),
        method: method.name(),
        verdict: verdict::unknown(),
        seed: facts.seed,
        host: facts.host.clone(),
        validity: rows,
        thresholds: outcomes,
        range_bounds: facts.ranges.clone(),
        comparison: comparison(method, &blocks),
        absent: facts.absent.clone(),
        arms: summaries,
    };
    summary.verdict = verdict::decide(&summary, facts);
    summary
}

/// Adds the answers of the method to an arm's summary; the criteria of validity that its figures are held to.
fn by_method(
    method: &Method,
    arm: &ArmBlocks,
    merged: &ArmData,
    facts: &Facts,
    summary: &mut ArmSummary,
) -> Vec<ValidityRow> {
    let cpus = facts.host.cpus;
    match method {
        Method::Measure => {
            // A figure that nothing is known of has no cause, and with faults what gave way was made to.
            let asked = merged.sent > 0 && merged.faults.is_empty();
            let case = asked.then(|| Case::of_one(merged, cpus));
            summary.bottleneck = case.as_ref().map(bottleneck::attribute);
        }
        Method::Compare { .. } => {}
        Method::Levels(named) => {
            let (levels, rows) = levels::summarise(arm, named);
            summary.bottleneck = levels::attribute(arm, &levels, cpus);
            summary.drift = levels::drift(arm, &levels);
            summary.levels = levels;
            return rows;
        }
        Method::Capacity(searches) => {
            if let Some(searched) = searches.get(&arm.name).cloned() {
                summary.capacity = Some(searched.capacity);
                summary.bottleneck = searched.bottleneck;
            }
        }
        Method::Sensitivity(delayed) => {
            let own = delayed.get(&arm.name).map_or(&[][..], Vec::as_slice);
            let found = links::summarise(own, facts.seed);
            summary.links = found.links;
            summary.critical_link = found.critical;
            summary.undelayed_peers = found.undelayed_peers;
            summary.notes.extend(found.notes);
        }
        Method::Availability(found) => {
            // Faults were on: the criteria held for each trial by itself, and void ones were made again.
            summary.availability = found.get(&arm.name).cloned();
            let found = summary.availability.as_ref();
            return found.map_or_else(Vec::new, |found| validity::judge_trials(&arm.name, found));
        }
    }
    validity::judge(merged)
}

/// The figures of a part of a load, as the summary would show them, without anything that takes a whole run to say.
#[must_use]
pub fn figures(part: &ArmData) -> ArmSummary {
    let arm = ArmBlocks {
        name: part.name.clone(),
        blocks: BTreeMap::new(),
        notes: Vec::new(),
    };
    arm::summarise(&arm, part, &Ranges::default(), |_| &[])
}

/// Figures of the callers over a part of a load.
#[must_use]
pub fn callers(part: &ArmData) -> CallerFigures {
    let figures = figures(part);
    CallerFigures {
        seconds: figures.seconds,
        good_per_s: figures.good_per_s,
        failed: figures.failed,
        failed_share: figures.failed_share,
        dropped: figures.dropped,
        response_time: figures.times.response_time,
    }
}

/// Figures of the response times of a load that a criterion of validity reaches.
#[must_use]
pub fn void_figures(part: &ArmData) -> Vec<Statistic> {
    let arm = ArmBlocks {
        name: part.name.clone(),
        blocks: [(1, part.clone())].into(),
        notes: Vec::new(),
    };
    let blocks = Blocks::of(std::slice::from_ref(&arm));
    blocks.void_for(&arm.name, 1).to_vec()
}

/// Resources by component over the measured time of a load.
#[must_use]
pub fn component_summaries(load: &ArmData) -> IndexMap<String, ComponentSummary> {
    let answered_per_s = load.answered_per_s();
    let components = load.components.iter();
    components
        .map(|(name, data)| (name.clone(), arm::component_summary(data, answered_per_s)))
        .collect()
}

fn merge(arm: &ArmBlocks) -> ArmData {
    let mut blocks = arm.blocks.values();
    let Some(first) = blocks.next() else {
        return ArmData::new(&arm.name, "", LoadModel::Open, None);
    };
    let mut merged = first.clone();
    blocks.for_each(|block| merged.merge(block));
    merged
}

fn comparison(method: &Method, blocks: &Blocks) -> Option<Comparison> {
    let Method::Compare { baseline } = method else {
        return None;
    };
    let planned = blocks.planned().len();
    Some(Comparison {
        baseline: baseline.clone(),
        blocks: u32::try_from(planned).unwrap_or(u32::MAX),
        void_blocks: blocks.void_for_all(),
        confidence: CONFIDENCE,
        interval: (planned >= 2).then(|| method_for(planned)),
        margin_share: MARGIN_SHARE,
    })
}

/// Data of an arm: its blocks, and all of them together.
struct Load<'a> {
    arm: &'a ArmBlocks,
    merged: ArmData,
}

/// Value of a threshold's metric. That many exchanges failed is left to a threshold on just that, of the same part, if there is one.
fn read_load(
    wanted: &Threshold,
    thresholds: &[Threshold],
    loads: &IndexMap<&str, Load<'_>>,
    arms: &IndexMap<String, ArmSummary>,
) -> Reading {
    let place = |of: &Threshold| {
        (
            of.metric.level().map(str::to_owned),
            of.metric.step().map(str::to_owned),
        )
    };
    let judges = |other: &Threshold| {
        let same = place(other) == place(wanted) || place(other) == (None, None);
        other.metric.is_failed_share() && other.arm == wanted.arm && same
    };
    let failures = match thresholds.iter().any(judges) {
        true => FailuresAreJudged::Apart,
        false => FailuresAreJudged::Here,
    };
    let read = || {
        let (figures, load) = (arms.get(&wanted.arm)?, loads.get(wanted.arm.as_str())?);
        let data = match wanted.metric.level() {
            Some(name) => {
                let level = figures.levels.iter().find(|level| level.name == name)?;
                load.arm.blocks.get(&level.level)?
            }
            None => &load.merged,
        };
        Some(reading::read(&wanted.metric, figures, data, failures))
    };
    read().unwrap_or_default()
}

fn hold(
    (wanted, reading): (&Threshold, Reading),
    breach: Option<Breach>,
    arms: &IndexMap<String, ArmSummary>,
    rows: &[ValidityRow],
    method: &Method,
) -> ThresholdOutcome {
    let arm = arms.get(&wanted.arm);
    let reserved = arm
        .and_then(|arm| arm.added.as_ref())
        .is_some_and(|added| is_reserved(added, &wanted.metric));
    let standing = match ground(rows, &wanted.arm, &wanted.metric, method) {
        Some(row) if row.effect == Effect::Invalid && row.bias == Bias::TooLarge => {
            Standing::TooLarge(row)
        }
        Some(row) if row.effect == Effect::Invalid => Standing::Invalid(row),
        _ if reserved => Standing::Reserved,
        Some(_) => Standing::Marked,
        None => Standing::Sound,
    };
    threshold::judge(wanted, reading, standing, breach)
}

/// Whether the metric is a difference that its interval alone does not decide.
fn is_reserved(added: &Added, metric: &Metric) -> bool {
    let mut wanted = (added.all()).filter(|(name, _)| metric.is_below(&format!("added.{name}")));
    wanted.any(|(_, found)| {
        found.reservation.is_some() && found.verdict == DifferenceVerdict::Inconclusive
    })
}

/// Effect of validity on a metric. A difference rests on the baseline too.
fn ground<'a>(
    rows: &'a [ValidityRow],
    arm: &str,
    metric: &Metric,
    method: &Method,
) -> Option<&'a ValidityRow> {
    let own = validity::strongest(rows, arm, metric);
    let base = match method {
        Method::Compare { baseline } if metric.is_below("added") => {
            validity::strongest(rows, baseline, metric)
        }
        _ => None,
    };
    own.into_iter().chain(base).max_by_key(|row| row.effect)
}
