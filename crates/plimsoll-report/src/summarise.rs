//! From what the lab measured to what the run found: merges blocks, judges validity, compares arms, holds thresholds against them.
//!
//! The order is fixed: blocks that are void are left out first, then everything is computed from those that remain, so that
//! every figure of a summary rests on the same blocks.

mod added;
mod arm;

use crate::metric::Metric;
use crate::record::{
    ArmBlocks, ArmData, ArmSummary, Comparison, Effect, Host, LoadModel, MethodName,
    SUMMARY_SCHEMA, Summary, ThresholdOutcome, ValidityRow,
};
use crate::statistics::{CONFIDENCE, MARGIN_SHARE, method_for};
use crate::threshold::{self, Threshold};
use crate::{validity, verdict};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// What a summary says of the run apart from its figures.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The experiment's name.
    pub experiment: String,
    /// The seed of everything random in the run.
    pub seed: u64,
    /// The machine.
    pub host: Host,
    /// Whether everything planned was done.
    pub complete: bool,
    /// One sentence for each component that died and was not meant to.
    pub deaths: Vec<String>,
}

/// How the experiment was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Method {
    /// Every arm once.
    Measure,
    /// Randomised blocks, each holding every arm once.
    Compare {
        /// The arm that the others are compared with.
        baseline: String,
    },
}

/// Summarises a run. A threshold on an arm that does not exist reads as "no sample".
#[must_use]
pub fn summarise(
    facts: &Facts,
    method: &Method,
    arms: &[ArmBlocks],
    thresholds: &[Threshold],
) -> Summary {
    let selection = select_blocks(method, arms);
    let mut rows = Vec::new();
    let mut summaries = IndexMap::new();
    for arm in arms {
        let merged = merge(arm, &selection.used);
        rows.extend(validity::judge(&merged));
        rows.extend(validity::judge_blocks_used(
            &arm.name,
            selection.used.len() + selection.void.len(),
            selection.void.len(),
        ));
        summaries.insert(
            arm.name.clone(),
            arm::summarise(arm, &merged, &selection.used),
        );
    }
    if let Method::Compare { baseline } = method {
        added::fill(
            &mut summaries,
            arms,
            baseline,
            &selection.used,
            facts.seed,
            &rows,
        );
    }
    let outcomes: Vec<ThresholdOutcome> = thresholds
        .iter()
        .map(|wanted| hold(wanted, &summaries, &rows, method))
        .collect();
    let mut summary = Summary {
        schema: SUMMARY_SCHEMA.to_owned(),
        experiment: facts.experiment.clone(),
        method: match method {
            Method::Measure => MethodName::Measure,
            Method::Compare { .. } => MethodName::Compare,
        },
        verdict: verdict::unknown(),
        seed: facts.seed,
        host: facts.host.clone(),
        validity: rows,
        thresholds: outcomes,
        comparison: comparison(method, &selection),
        arms: summaries,
    };
    summary.verdict = verdict::decide(&summary, facts);
    summary
}

/// Which blocks the figures rest on.
struct Selection {
    used: BTreeSet<u32>,
    void: BTreeSet<u32>,
}

/// A comparison uses the blocks that hold every arm, without those in which some arm's load was not offered as planned. If none
/// remain, all are used after all, and criterion 1 speaks for itself.
fn select_blocks(method: &Method, arms: &[ArmBlocks]) -> Selection {
    let all: BTreeSet<u32> = arms
        .iter()
        .flat_map(|arm| arm.blocks.keys().copied())
        .collect();
    if *method == Method::Measure {
        return Selection {
            used: all,
            void: BTreeSet::new(),
        };
    }
    let (mut used, mut void) = (BTreeSet::new(), BTreeSet::new());
    for block in all.iter().copied() {
        let data: Vec<Option<&ArmData>> = arms.iter().map(|arm| arm.blocks.get(&block)).collect();
        if data.iter().any(Option::is_none) {
            continue;
        }
        if data.into_iter().flatten().any(validity::is_void) {
            void.insert(block);
        } else {
            used.insert(block);
        }
    }
    if used.is_empty() {
        return Selection {
            used: all,
            void: BTreeSet::new(),
        };
    }
    Selection { used, void }
}

fn merge(arm: &ArmBlocks, used: &BTreeSet<u32>) -> ArmData {
    let mut blocks = arm.blocks.iter().filter(|(block, _)| used.contains(block));
    let Some((_, first)) = blocks.next() else {
        return ArmData::new(&arm.name, "", LoadModel::Open, None);
    };
    let mut merged = first.clone();
    blocks.for_each(|(_, block)| merged.merge(block));
    merged
}

fn comparison(method: &Method, selection: &Selection) -> Option<Comparison> {
    let Method::Compare { baseline } = method else {
        return None;
    };
    let blocks = selection.used.len();
    Some(Comparison {
        baseline: baseline.clone(),
        blocks: u32::try_from(blocks).unwrap_or(u32::MAX),
        void_blocks: selection.void.iter().copied().collect(),
        confidence: CONFIDENCE,
        interval: (blocks >= 2).then(|| method_for(blocks)),
        margin_share: MARGIN_SHARE,
    })
}

fn hold(
    wanted: &Threshold,
    arms: &IndexMap<String, ArmSummary>,
    rows: &[ValidityRow],
    method: &Method,
) -> ThresholdOutcome {
    let reading = arms
        .get(&wanted.arm)
        .map(|arm| wanted.metric.read(arm))
        .unwrap_or_default();
    threshold::judge(
        wanted,
        reading,
        effect(rows, &wanted.arm, &wanted.metric, method),
    )
}

/// What validity says of a metric. A difference rests on the baseline too.
fn effect(rows: &[ValidityRow], arm: &str, metric: &Metric, method: &Method) -> Effect {
    let own = validity::effect_on(rows, arm, metric);
    match method {
        Method::Compare { baseline } if metric.is_below("added") => {
            own.max(validity::effect_on(rows, baseline, metric))
        }
        _ => own,
    }
}
