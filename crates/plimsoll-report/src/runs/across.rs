//! Recorded runs, or arms of them, held against each other: `plimsoll compare`.
//!
//! Arms of one run by `method: compare` share their blocks, so their differences are paired, and are what that run's own summary says. Runs that
//! were made one after the other share nothing: their blocks are two samples (Welch), and what drifted between the runs is in the difference,
//! which is said beside it. The unit of replication is the block in both cases; a run of one block has none.

mod power;
pub mod text;

pub use power::{Needed, needed};

use crate::judgement::validity::{self, FailedShares, Used, reserve};
use crate::record::{
    ArmSummary, BlockSummary, Difference, DifferenceVerdict, MethodName, Statistic, Summary,
    VerdictResult,
};
use crate::statistics::{
    CONFIDENCE, Sample, Welch, correct, judge_difference, margin_of, minimum_detectable, verdict_of,
};
use serde::Serialize;

/// The figures that are compared.
pub const FIGURES: [Statistic; 4] = [
    Statistic::Mean,
    Statistic::P50,
    Statistic::P90,
    Statistic::P99,
];

/// An arm of a recorded run.
#[derive(Debug, Clone)]
pub struct Entry {
    /// How the person named it.
    pub label: String,
    /// The run's identity.
    pub run: String,
    /// When it began, as its manifest says.
    pub started_at: String,
    /// Its summary.
    pub summary: Summary,
    /// The arm.
    pub arm: String,
}

/// Why an entry cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    /// There is no such arm.
    #[error("{label}: it has no arm `{arm}`: write one of {}", known.join(", "))]
    NoArm {
        /// The entry.
        label: String,
        /// The arm that was asked for.
        arm: String,
        /// The arms that there are.
        known: Vec<String>,
    },
    /// Nobody said which arm is meant.
    #[error("{label}: it has several arms: write `{label}:ARM` with one of {}", known.join(", "))]
    WhichArm {
        /// The entry.
        label: String,
        /// The arms that there are.
        known: Vec<String>,
    },
}

/// Differences of entries from the first of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Across {
    /// The first: the others are compared with it.
    pub baseline: String,
    /// The others, in their order.
    pub others: Vec<Other>,
    /// Sentences that belong beside the figures.
    pub notes: Vec<String>,
}

/// One entry beside the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Other {
    /// How the person named it.
    pub label: String,
    /// Whether its blocks are the baseline's too.
    pub paired: bool,
    /// Why there is no difference; `null` where there is.
    pub why_not: Option<String>,
    /// Differences by figure.
    pub differences: Vec<(Statistic, Difference)>,
}

impl Entry {
    /// The entry that a person names as `label`, with the arm where it says one.
    ///
    /// # Errors
    /// [`NotComparable`].
    pub fn new(
        label: &str,
        arm: Option<&str>,
        run: String,
        started_at: String,
        summary: Summary,
    ) -> Result<Self, NotComparable> {
        let known: Vec<String> = summary.arms.keys().cloned().collect();
        let label = label.to_owned();
        let arm = match (arm, known.as_slice()) {
            (Some(arm), known) if known.iter().any(|name| name == arm) => arm.to_owned(),
            (Some(arm), _) => {
                let arm = arm.to_owned();
                return Err(NotComparable::NoArm { label, arm, known });
            }
            (None, [only]) => only.clone(),
            (None, _) => return Err(NotComparable::WhichArm { label, known }),
        };
        Ok(Self {
            label,
            run,
            started_at,
            summary,
            arm,
        })
    }

    fn figures(&self) -> &ArmSummary {
        &self.summary.arms[&self.arm]
    }

    /// The blocks of the arm: loads that are alike. Levels and trials are not, each was made at a rate of its own.
    fn loads(&self) -> &[BlockSummary] {
        match self.summary.method {
            MethodName::Measure | MethodName::Compare | MethodName::Sensitivity => {
                &self.figures().by_block
            }
            MethodName::Levels | MethodName::Capacity | MethodName::Availability => &[],
        }
    }

    /// A figure of each block that carries it.
    fn blocks(&self, statistic: Statistic) -> Vec<(u32, f64)> {
        let carrying = self.loads().iter();
        figure_of(
            carrying.filter(|block| !block.void_for.contains(&statistic)),
            statistic,
        )
    }

    /// A figure of every block, whether it may be read from it or not.
    fn all_blocks(&self, statistic: Statistic) -> Vec<(u32, f64)> {
        figure_of(self.loads().iter(), statistic)
    }

    /// Whether nothing may be concluded from the arm.
    fn is_ruled_out(&self) -> bool {
        let mut rows = self.summary.validity.iter();
        rows.any(|row| row.arm == self.arm && validity::invalidates_arm(row))
    }
}

fn figure_of<'a>(
    blocks: impl Iterator<Item = &'a BlockSummary>,
    statistic: Statistic,
) -> Vec<(u32, f64)> {
    let values =
        blocks.filter_map(|block| Some((block.block, block.response_time.get(statistic)?)));
    values.collect()
}

/// Compares entries, of which there are at least two, with the first.
#[must_use]
pub fn compare(entries: &[Entry]) -> Across {
    let Some((baseline, others)) = entries.split_first() else {
        return Across {
            baseline: String::new(),
            others: Vec::new(),
            notes: Vec::new(),
        };
    };
    let judged = others.iter().enumerate();
    let mut others: Vec<Other> = judged
        .map(|(place, entry)| beside(baseline, entry, place))
        .collect();
    for statistic in FIGURES {
        let of_figure = others.iter_mut().flat_map(|other| &mut other.differences);
        let mut differences: Vec<&mut Difference> = of_figure
            .filter(|(figure, _)| *figure == statistic)
            .map(|(_, difference)| difference)
            .collect();
        if differences.len() > 1 {
            correct(&mut differences);
        }
    }
    Across {
        baseline: baseline.label.clone(),
        notes: notes(entries, &others),
        others,
    }
}

/// An entry beside the baseline; `place`: which of the others.
fn beside(baseline: &Entry, entry: &Entry, place: usize) -> Other {
    let paired = is_paired(baseline, entry);
    let ruled_out = baseline.is_ruled_out() || entry.is_ruled_out();
    let failed = |entry: &Entry| entry.figures().failed_share.unwrap_or(0.0);
    let failed = FailedShares {
        arm: failed(entry),
        baseline: failed(baseline),
    };
    let mut differences = Vec::new();
    for statistic in FIGURES {
        let found = if paired {
            of_pairs(baseline, entry, statistic, place)
        } else {
            of_samples(baseline, entry, statistic)
        };
        if let Some(mut found) = found {
            if ruled_out {
                found.verdict = DifferenceVerdict::Invalid;
                found.more_blocks = None;
            }
            reserve(&mut found, failed, statistic);
            differences.push((statistic, found));
        }
    }
    Other {
        label: entry.label.clone(),
        paired,
        why_not: differences
            .is_empty()
            .then(|| why_not(&[baseline, entry]).to_owned()),
        differences,
    }
}

fn why_not(entries: &[&Entry; 2]) -> &'static str {
    let held = |entry: &&Entry| {
        let method = entry.summary.method;
        matches!(
            method,
            MethodName::Levels | MethodName::Capacity | MethodName::Availability
        )
    };
    match entries.iter().any(held) {
        true => {
            "one of them has levels or trials, each at a rate of its own or under a fault: they are no blocks; use `method: compare` at one rate"
        }
        false => {
            "one of them has fewer than two blocks: a difference between two single runs cannot be told from chance; use `method: compare`, or compare runs of several blocks"
        }
    }
}

/// Arms of one run whose blocks hold each of them once.
fn is_paired(baseline: &Entry, entry: &Entry) -> bool {
    baseline.run == entry.run && entry.summary.method == MethodName::Compare
}

/// As that run's own summary has it: the same blocks, seed and resamples, and the same rule for what was left out.
fn of_pairs(
    baseline: &Entry,
    entry: &Entry,
    statistic: Statistic,
    place: usize,
) -> Option<Difference> {
    let all = pairs(
        &entry.all_blocks(statistic),
        &baseline.all_blocks(statistic),
    );
    let whole = pairs(&entry.blocks(statistic), &baseline.blocks(statistic));
    let used = Used {
        statistic,
        planned: planned(baseline).min(planned(entry)),
        used: whole.len(),
    };
    let index = entry.summary.arms.get_index_of(&entry.arm).unwrap_or(place);
    let key = (index * Statistic::ALL.len() + statistic as usize) as u64;
    let judge = |pairs: &[(f64, f64)]| {
        let differences: Vec<f64> = pairs.iter().map(|(own, base)| own - base).collect();
        let sum: f64 = pairs.iter().map(|(_, base)| base).sum();
        let mean = sum / as_f64(pairs.len().max(1));
        judge_difference(&differences, mean, entry.summary.seed, key)
    };
    let mut found = judge(&whole).or_else(|| judge(&all))?;
    hold_to(&mut found, used);
    Some(found)
}

/// Values of the same blocks.
fn pairs(own: &[(u32, f64)], base: &[(u32, f64)]) -> Vec<(f64, f64)> {
    let of = |wanted: u32| base.iter().find(|(block, _)| *block == wanted);
    let pairs = own
        .iter()
        .filter_map(|(block, value)| Some((*value, of(*block)?.1)));
    pairs.collect()
}

fn planned(entry: &Entry) -> usize {
    entry.loads().len()
}

/// A conclusion on too few of its blocks is one on a selection of them.
fn hold_to(found: &mut Difference, used: Used) {
    let count = |blocks| u32::try_from(blocks).unwrap_or(u32::MAX);
    found.planned_blocks = count(used.planned);
    if !used.is_enough() {
        found.verdict = DifferenceVerdict::Invalid;
        found.more_blocks = None;
        found.blocks = count(used.used);
    }
}

/// Two samples that share nothing.
fn of_samples(baseline: &Entry, entry: &Entry, statistic: Statistic) -> Option<Difference> {
    let used = |entry: &Entry| Used {
        statistic,
        planned: planned(entry),
        used: entry.blocks(statistic).len(),
    };
    let values = |blocks: Vec<(u32, f64)>| -> Vec<f64> {
        blocks.into_iter().map(|(_, value)| value).collect()
    };
    let sample = |entry: &Entry| {
        Sample::of(&values(entry.blocks(statistic)))
            .or_else(|| Sample::of(&values(entry.all_blocks(statistic))))
    };
    let mut found = of_two(&sample(baseline)?, &sample(entry)?);
    let mut scarce = [used(baseline), used(entry)].into_iter();
    if let Some(scarce) = scarce.find(|used| !used.is_enough()) {
        hold_to(&mut found, scarce);
    }
    Some(found)
}

fn of_two(first: &Sample, second: &Sample) -> Difference {
    let welch = Welch::of(first, second);
    let margin = margin_of(first.mean);
    let interval = welch.interval(CONFIDENCE);
    let one_sided = welch.interval(2.0 * CONFIDENCE - 1.0);
    let fewer = first.size.min(second.size);
    // As many blocks in each: the error of a difference of means is that of one mean of such differences.
    let deviation = welch.error * as_f64(fewer).sqrt();
    let blocks = u32::try_from(fewer).unwrap_or(u32::MAX);
    Difference {
        value: welch.difference,
        low: interval.low,
        high: interval.high,
        verdict: verdict_of(interval, one_sided, margin),
        p: Some(welch.p()),
        p_equivalent: Some(welch.p_equivalent(margin)),
        margin,
        minimum_detectable: minimum_detectable(fewer, deviation),
        blocks,
        planned_blocks: blocks,
        reservation: None,
        more_blocks: None,
    }
}

fn notes(entries: &[Entry], others: &[Other]) -> Vec<String> {
    let mut notes = Vec::new();
    if others.iter().any(|other| !other.paired) {
        notes.push("these runs were made one after the other: whatever changed between them is in the difference; `method: compare` takes arms in turns".to_owned());
    }
    if others.len() > 1 {
        notes.push(format!(
            "conclusions on {} arms are corrected for their number (Holm); each interval stands alone",
            others.len()
        ));
    }
    let first = &entries[0];
    let differs = |what: fn(&Entry) -> String| entries.iter().any(|one| what(one) != what(first));
    if differs(|one| one.summary.experiment.clone()) {
        notes.push("they are runs of different experiments".to_owned());
    }
    if differs(|one| format!("{} {}", one.summary.host.kernel, one.summary.host.cpu_model)) {
        notes.push("they were made on different machines or kernels".to_owned());
    }
    let offered = |one: &Entry| format!("{:?}", one.figures().offered_per_s);
    if differs(offered) {
        notes.push("they had different loads".to_owned());
    }
    for entry in entries {
        if entry.summary.verdict.result == VerdictResult::Invalid {
            notes.push(format!("{}: its measurement is invalid", entry.label));
        }
    }
    notes
}

impl Across {
    /// Whether the median or the p99 of every other is decided.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        let decided = |other: &Other| {
            let headlines = other
                .differences
                .iter()
                .filter(|(figure, _)| [Statistic::P50, Statistic::P99].contains(figure));
            headlines.into_iter().any(|(_, found)| {
                !matches!(
                    found.verdict,
                    DifferenceVerdict::Inconclusive | DifferenceVerdict::Invalid
                )
            })
        };
        self.others.iter().all(decided)
    }

    /// The differences as JSON.
    ///
    /// # Panics
    /// Never: it holds text and numbers only.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("invariant: text and numbers are JSON")
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number of blocks")]
fn as_f64(size: usize) -> f64 {
    size as f64
}
