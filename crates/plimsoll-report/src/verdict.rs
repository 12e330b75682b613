//! From evidence to one conclusion, and to the class of exit code that the binary gives it.

use crate::metric::Metric;
use crate::record::{
    ArmSummary, DifferenceVerdict, Effect, MethodName, Statistic, Summary, ThresholdOutcome,
    Verdict, VerdictResult,
};
use crate::summarise::Facts;
use crate::validity;
use plimsoll_base::units::{format_number, format_seconds};

/// The exit codes that follow from what was measured, as opposed to from what went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitClass {
    /// 0.
    Passed,
    /// 3.
    ThresholdFailed,
    /// 4.
    Invalid,
    /// 6.
    Inconclusive,
}

impl ExitClass {
    /// The class of a verdict.
    #[must_use]
    pub fn of(result: VerdictResult) -> Self {
        match result {
            VerdictResult::Passed => Self::Passed,
            VerdictResult::Failed => Self::ThresholdFailed,
            VerdictResult::Invalid => Self::Invalid,
            VerdictResult::Inconclusive | VerdictResult::Unknown => Self::Inconclusive,
        }
    }

    /// The process's exit code.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::ThresholdFailed => 3,
            Self::Invalid => 4,
            Self::Inconclusive => 6,
        }
    }
}

/// The verdict before anything was looked at.
#[must_use]
pub fn unknown() -> Verdict {
    verdict(VerdictResult::Unknown, Vec::new())
}

/// Decides. The first that applies: invalid, nothing measured, a threshold failed, something undecided, passed. Failed exchanges
/// decide nothing by themselves but are always told.
#[must_use]
pub fn decide(summary: &Summary, facts: &Facts) -> Verdict {
    let mut decided = conclude(summary, facts);
    decided.reasons.extend(failed_exchanges(summary));
    decided
}

fn conclude(summary: &Summary, facts: &Facts) -> Verdict {
    let mut invalid = facts.deaths.clone();
    invalid.extend(invalid_claims(summary));
    if !invalid.is_empty() {
        return verdict(VerdictResult::Invalid, invalid);
    }
    if let Some(reason) = nothing_measured(summary, facts) {
        return verdict(VerdictResult::Unknown, vec![reason]);
    }
    let failed = thresholds_with(summary, VerdictResult::Failed);
    if !failed.is_empty() {
        return verdict(VerdictResult::Failed, failed);
    }
    let mut undecided = thresholds_with(summary, VerdictResult::Inconclusive);
    if summary.thresholds.is_empty() {
        undecided.extend(undecided_arms(summary));
    }
    if !undecided.is_empty() {
        return verdict(VerdictResult::Inconclusive, undecided);
    }
    verdict(VerdictResult::Passed, reasons_to_pass(summary))
}

/// What cannot be concluded though it was asked for: whole arms, and metrics that a threshold judges; without thresholds, the p99.
fn invalid_claims(summary: &Summary) -> Vec<String> {
    let mut reasons: Vec<String> = summary
        .validity
        .iter()
        .filter(|row| validity::invalidates_arm(row))
        .map(|row| {
            format!(
                "{}: criterion {}, {}: {}",
                row.arm, row.criterion, row.name, row.advice
            )
        })
        .collect();
    if !reasons.is_empty() {
        return reasons;
    }
    reasons.extend(thresholds_with(summary, VerdictResult::Invalid));
    if summary.thresholds.is_empty()
        && let Ok(headline) = Metric::parse(headline(summary.method))
    {
        reasons.extend(
            summary
                .arms
                .keys()
                .filter(|arm| {
                    validity::effect_on(&summary.validity, arm, &headline) == Effect::Invalid
                })
                .map(|arm| {
                    format!(
                        "{arm}: criterion 2, {} cannot be told from the generator's own lateness",
                        headline.path()
                    )
                }),
        );
    }
    reasons
}

/// The metric that a run without thresholds is judged by.
fn headline(method: MethodName) -> &'static str {
    match method {
        MethodName::Measure => "response_time.p99",
        MethodName::Compare => "added.p99",
    }
}

fn nothing_measured(summary: &Summary, facts: &Facts) -> Option<String> {
    if !facts.complete {
        return Some("the run was interrupted: what was measured until then is kept".to_owned());
    }
    let silent = summary
        .arms
        .iter()
        .find(|(_, arm)| arm.outcomes.answered.is_empty());
    silent.map(|(name, _)| format!("{name}: not one exchange was answered"))
}

fn thresholds_with(summary: &Summary, result: VerdictResult) -> Vec<String> {
    let chosen = summary
        .thresholds
        .iter()
        .filter(|outcome| outcome.result == result);
    chosen
        .map(|outcome: &ThresholdOutcome| outcome.reason.clone())
        .collect()
}

/// Arms of a comparison for which neither the median nor the p99 was decided.
fn undecided_arms(summary: &Summary) -> Vec<String> {
    let Some(comparison) = &summary.comparison else {
        return Vec::new();
    };
    let others = summary
        .arms
        .iter()
        .filter(|(name, _)| **name != comparison.baseline);
    others
        .filter_map(|(name, arm)| undecided(name, arm))
        .collect()
}

fn undecided(name: &str, arm: &ArmSummary) -> Option<String> {
    let Some(p99) = arm.added.as_ref().and_then(|added| added.p99) else {
        return Some(format!("{name}: fewer than two blocks to compare"));
    };
    let is_open = |statistic| {
        arm.added
            .as_ref()
            .and_then(|added| added.get(statistic))
            .is_none_or(|d| d.verdict == DifferenceVerdict::Inconclusive)
    };
    (is_open(Statistic::P50) && is_open(Statistic::P99)).then(|| {
        format!(
            "{name}: neither median nor p99 is decided; {}",
            describe_power(p99.minimum_detectable, p99.blocks, p99.more_blocks)
        )
    })
}

/// What a number of blocks can find, and how many more would decide: printed wherever something is inconclusive.
#[must_use]
pub fn describe_power(minimum_detectable: f64, blocks: u32, more: Option<u32>) -> String {
    let more = match more {
        Some(more) => format!("about {more} more would decide"),
        None => "no reasonable number of blocks would decide".to_owned(),
    };
    format!(
        "{blocks} blocks find differences from {} on, {more}",
        format_seconds(minimum_detectable)
    )
}

/// The thresholds that held; without any, what was found.
fn reasons_to_pass(summary: &Summary) -> Vec<String> {
    let mut reasons = thresholds_with(summary, VerdictResult::Passed);
    if reasons.is_empty() {
        reasons.push("the measurement is valid; no threshold was set".to_owned());
        reasons.extend(summary.arms.iter().filter_map(|(name, arm)| {
            let p99 = arm.added.as_ref()?.p99?;
            let [value, low, high] = [p99.value, p99.low, p99.high].map(format_seconds);
            let conclusion = p99.verdict.name();
            Some(format!(
                "{name} adds {value} at p99 ({low} to {high}): {conclusion}"
            ))
        }));
    }
    reasons
}

fn failed_exchanges(summary: &Summary) -> Vec<String> {
    let failing = summary.arms.iter().filter(|(_, arm)| arm.failed > 0);
    let told = failing.map(|(name, arm)| {
        #[expect(clippy::cast_precision_loss, reason = "a count for people")]
        let failed = format_number(arm.failed as f64);
        let share = 100.0 * arm.failed_share.unwrap_or(0.0);
        format!("note: {failed} exchanges of {name} failed ({share:.2} %)")
    });
    told.collect()
}

fn verdict(result: VerdictResult, reasons: Vec<String>) -> Verdict {
    Verdict { result, reasons }
}
