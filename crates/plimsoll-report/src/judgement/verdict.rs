//! From evidence to one conclusion, and to the class of exit code that the binary gives it.

use crate::judgement::facts::Facts;
use crate::judgement::validity;
use crate::record::metric::Metric;
use crate::record::{
    ArmSummary, CapacityResult, CapacitySummary, Difference, DifferenceVerdict, Effect, Manner,
    MethodName, Statistic, Summary, ThresholdOutcome, UndelayedPeer, ValidityRow, Verdict,
    VerdictResult,
};
use plimsoll_base::reason::Reason;
use plimsoll_base::units::{format_number, format_seconds};
use std::collections::BTreeMap;

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

/// Decides. The first that applies: invalid, nothing measured, a threshold failed, something undecided, passed. Failed exchanges, dropped
/// arrivals and connections beside delayed links decide nothing by themselves but are always told.
#[must_use]
pub fn decide(summary: &Summary, facts: &Facts) -> Verdict {
    let mut decided = conclude(summary, facts);
    if decided.result == VerdictResult::Invalid {
        decided.reasons.extend(facts.cut_short.as_deref().map(kept));
    }
    decided.reasons.extend(failed_exchanges(summary));
    decided.reasons.extend(dropped_arrivals(summary));
    decided.reasons.extend(undelayed_peers(summary));
    decided
}

fn conclude(summary: &Summary, facts: &Facts) -> Verdict {
    // Trials of faults count deaths and failures: they are what was asked for.
    let is_of_faults = summary.method == MethodName::Availability;
    let mut invalid = match is_of_faults {
        true => Vec::new(),
        false => facts.deaths.clone(),
    };
    invalid.extend(invalid_claims(summary));
    if !invalid.is_empty() {
        return verdict(VerdictResult::Invalid, invalid);
    }
    if let Some(reason) = nothing_measured(summary, facts) {
        return verdict(VerdictResult::Unknown, vec![reason]);
    }
    if let Some(reason) = nothing_but_failures(summary).filter(|_| !is_of_faults) {
        return verdict(VerdictResult::Unknown, vec![reason]);
    }
    let failed = thresholds_with(summary, VerdictResult::Failed);
    if !failed.is_empty() {
        return verdict(VerdictResult::Failed, failed);
    }
    let mut undecided = thresholds_with(summary, VerdictResult::Inconclusive);
    if summary.thresholds.is_empty() {
        undecided.extend(undecided_arms(summary));
        let open = searches(summary).filter(|(_, found)| found.result != CapacityResult::Found);
        undecided.extend(open.map(|(name, found)| format!("{name}: {}", found.sentence)));
    }
    if !undecided.is_empty() {
        return verdict(VerdictResult::Inconclusive, undecided);
    }
    verdict(VerdictResult::Passed, reasons_to_pass(summary))
}

/// Claims that were asked for and cannot be made: whole arms, and metrics that a threshold judges; without thresholds, arms of
/// which neither the median nor the p99 stands.
fn invalid_claims(summary: &Summary) -> Vec<String> {
    let whole_arms = summary.validity.iter();
    let whole_arms = whole_arms.filter(|row| validity::invalidates_arm(row));
    let mut reasons: Vec<String> = whole_arms
        .map(|row| describe_claim(&row.arm, row.level.as_deref(), row))
        .collect();
    if !reasons.is_empty() {
        return reasons;
    }
    reasons.extend(thresholds_with(summary, VerdictResult::Invalid));
    if summary.thresholds.is_empty() {
        let claims = summary
            .arms
            .iter()
            .flat_map(|(name, arm)| claims(name, arm));
        let ruled_out = claims.filter_map(|(arm, level)| {
            let [p50, p99] = HEADLINES.map(|figure| ruled_out(summary, arm, level, figure));
            Some(describe_claim(arm, level, p50.and(p99)?))
        });
        reasons.extend(ruled_out);
    }
    reasons
}

/// Claims of a run without thresholds about an arm: its times, or those of its levels. Those of a level that was not sustained describe a
/// queue, and are no claim; a search judges its trials itself, and so do trials of faults.
fn claims<'a>(name: &'a str, arm: &'a ArmSummary) -> Vec<(&'a str, Option<&'a str>)> {
    if arm.capacity.is_some() || arm.availability.is_some() {
        return Vec::new();
    }
    if arm.levels.is_empty() {
        return vec![(name, None)];
    }
    let sustained = arm.levels.iter().filter(|level| {
        let bearing = level.bearing.as_ref();
        bearing.is_none_or(|bearing| bearing.manner == Manner::Sustains)
    });
    sustained
        .map(|level| (name, Some(level.name.as_str())))
        .collect()
}

fn describe_claim(arm: &str, level: Option<&str>, row: &ValidityRow) -> String {
    match level {
        Some(level) => format!("{arm} at {level}: {}", describe_row(row)),
        None => format!("{arm}: {}", describe_row(row)),
    }
}

/// The figures that a run without thresholds concludes on.
const HEADLINES: [Statistic; 2] = [Statistic::P50, Statistic::P99];

/// The row that rules out a figure of an arm: of its difference in a comparison, of its response time otherwise.
fn ruled_out<'a>(
    summary: &'a Summary,
    arm: &str,
    level: Option<&str>,
    figure: Statistic,
) -> Option<&'a ValidityRow> {
    let what = match (summary.method, level) {
        (MethodName::Compare, _) => "added".to_owned(),
        (_, Some(level)) => format!("levels.{level}.response_time"),
        (_, None) => "response_time".to_owned(),
    };
    let metric = Metric::parse(&format!("{what}.{}", figure.name())).ok()?;
    validity::strongest(&summary.validity, arm, &metric).filter(|row| row.effect == Effect::Invalid)
}

fn describe_row(row: &ValidityRow) -> String {
    format!("criterion {}, {}: {}", row.criterion, row.name, row.advice)
}

fn nothing_measured(summary: &Summary, facts: &Facts) -> Option<String> {
    if let Some(reason) = &facts.cut_short {
        return Some(kept(reason));
    }
    let silent = summary
        .arms
        .iter()
        .filter(|(_, arm)| arm.capacity.is_none() && arm.availability.is_none())
        .find(|(_, arm)| arm.outcomes.answered.is_empty());
    silent.map(|(name, arm)| {
        // Throughput counts what was answered in the measured time, for whichever arrivals.
        let busy_with_warmup = arm.achieved_per_s.is_some_and(|rate| rate > 0.0);
        let what = if busy_with_warmup {
            "no arrival of the measured time was answered: the target was still serving those of the warm-up"
        } else {
            "not one exchange was answered"
        };
        format!("{name}: {what}")
    })
}

/// Sentence on a run that ended before its time.
fn kept(reason: &str) -> String {
    format!("{reason}: results up to that point are kept")
}

/// Without a threshold that judges failures, a run in which every exchange failed has measured nothing of the service.
fn nothing_but_failures(summary: &Summary) -> Option<String> {
    let mut arms = summary.arms.iter();
    let (name, arm) = arms.find(|(_, arm)| {
        let failed = arm.failed_share.is_some_and(|share| share >= 1.0);
        failed && arm.capacity.is_none()
    })?;
    let every = summary.thresholds.is_empty().then_some(arm.failed)?;
    Some(format!("{name}: every one of {every} exchanges failed"))
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

/// Results of each arm that was searched.
fn searches(summary: &Summary) -> impl Iterator<Item = (&String, &CapacitySummary)> {
    let arms = summary.arms.iter();
    arms.filter_map(|(name, arm)| Some((name, arm.capacity.as_ref()?)))
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
    let found = |statistic| arm.added.as_ref().and_then(|added| added.get(statistic));
    let [p50, p99] = HEADLINES.map(found);
    let Some(p99) = p99 else {
        return Some(format!("{name}: fewer than two blocks to compare"));
    };
    let is_open = |difference: &Difference| {
        matches!(
            difference.verdict,
            DifferenceVerdict::Inconclusive | DifferenceVerdict::Invalid
        )
    };
    if !(p50.is_none_or(is_open) && is_open(p99)) {
        return None;
    }
    let reserved = |difference: &Difference| difference.reservation.is_some();
    if p50.is_some_and(reserved) || reserved(p99) {
        return Some(format!(
            "{name}: no conclusion while the arms have different failure rates"
        ));
    }
    Some(format!(
        "{name}: neither median nor p99 is decided; {}",
        describe_power(p99.minimum_detectable, p99.blocks, p99.more_blocks)
    ))
}

/// Difference that a number of blocks can find, and how many more would decide: printed wherever something is inconclusive.
#[must_use]
pub fn describe_power(minimum_detectable: f64, blocks: u32, more: Option<u32>) -> String {
    let more = match more {
        Some(more) => format!("about {more} more would decide"),
        None => "no practical number of blocks would decide it".to_owned(),
    };
    format!(
        "{blocks} blocks can detect differences of {} or more; {more}",
        format_seconds(minimum_detectable)
    )
}

/// The thresholds that held; without any, what was found.
fn reasons_to_pass(summary: &Summary) -> Vec<String> {
    let mut reasons = thresholds_with(summary, VerdictResult::Passed);
    let held_none = reasons.is_empty();
    let found = searches(summary);
    reasons.extend(found.map(|(name, found)| format!("{name}: {}", found.sentence)));
    reasons.extend(of_a_year(summary));
    if held_none {
        reasons.push(format!("{}; no threshold was set", what_stands(summary)));
        for (name, arm) in &summary.arms {
            reasons.extend(concluded(name, arm));
            reasons.extend(left_out(summary, name));
        }
    }
    let critical = |(name, arm): (&String, &ArmSummary)| {
        let found = arm.critical_link.as_ref()?;
        Some(format!("{name}: {}", found.sentence))
    };
    reasons.extend(summary.arms.iter().filter_map(critical));
    for (name, arm) in &summary.arms {
        reasons.extend(not_sustained(name, arm));
    }
    reasons
}

/// Of each arm whose faults were tried: what can be claimed of a year, or why nothing is.
fn of_a_year(summary: &Summary) -> Vec<String> {
    let arms = summary.arms.iter();
    let found = arms.filter_map(|(name, arm)| Some((name, arm.availability.as_ref()?)));
    let first = found.filter_map(|(name, found)| {
        let year = found.annual.as_ref();
        let sentence = year.map_or(found.notes.first(), |year| year.sentences.first());
        Some(format!("{name}: {}", sentence?))
    });
    first.collect()
}

/// Which figures can be used: so that nobody reads that a run is valid above a criterion that does not hold.
fn what_stands(summary: &Summary) -> String {
    if summary.validity.iter().all(|row| row.ok) {
        return "the measurement is valid".to_owned();
    }
    let is_capacity = |name: &String| summary.arms[name].capacity.is_some();
    let of_arms = summary.arms.keys().filter(|name| !is_capacity(name));
    let said: Vec<String> = of_arms
        .flat_map(|name| claims(name, &summary.arms[name]))
        .filter_map(|(arm, level)| reserved_figures(summary, arm, level))
        .collect();
    if said.is_empty() {
        return "all response times can be used".to_owned();
    }
    format!("of the response times {}", said.join("; "))
}

/// The figures of an arm, or of a level of it, that carry a mark, by what it says; `None` where none does.
fn reserved_figures(summary: &Summary, arm: &str, level: Option<&str>) -> Option<String> {
    let effect = |figure: &str| {
        let path = match level {
            Some(level) => format!("levels.{level}.response_time.{figure}"),
            None => format!("response_time.{figure}"),
        };
        let metric = Metric::parse(&path).ok()?;
        Some(validity::effect_on(&summary.validity, arm, &metric))
    };
    let named = Statistic::ALL.map(|one| (one.label(), effect(one.name())));
    let all: Vec<_> = named.into_iter().chain([("max", effect("max"))]).collect();
    let with = |wanted: Effect| -> Vec<&'static str> {
        let of = all.iter().filter(|(_, effect)| *effect == Some(wanted));
        of.map(|(label, _)| *label).collect()
    };
    let [sound, marked, invalid] = [Effect::None, Effect::Marked, Effect::Invalid].map(with);
    if marked.is_empty() && invalid.is_empty() {
        return None;
    }
    let place = level.map_or_else(|| arm.to_owned(), |level| format!("{arm} at {level}"));
    let parts = [
        (sound, "can be used"),
        (marked, "with their mark (†)"),
        (invalid, "cannot be used (‡)"),
    ];
    let parts = parts.into_iter().filter(|(figures, _)| !figures.is_empty());
    let said: Vec<String> = parts
        .map(|(figures, what)| format!("{} {what}", validity::list(figures)))
        .collect();
    Some(format!("of {place} {}", said.join(", ")))
}

/// Levels that were not sustained, and what was.
fn not_sustained(name: &str, arm: &ArmSummary) -> Vec<String> {
    let borne = arm.levels.iter().filter_map(|level| level.bearing.as_ref());
    borne
        .filter(|bearing| bearing.manner != Manner::Sustains)
        .map(|bearing| format!("{name}: {}", bearing.sentence))
        .collect()
}

/// Difference of an arm at the p99, or at the median where the p99 is ruled out.
fn concluded(name: &str, arm: &ArmSummary) -> Option<String> {
    let added = arm.added.as_ref()?;
    let stands = |statistic: &Statistic| {
        let found = added.get(*statistic);
        found.is_some_and(|found| found.verdict != DifferenceVerdict::Invalid)
    };
    let figure = HEADLINES.into_iter().rev().find(stands)?;
    let found = added.get(figure)?;
    let words = |found: &Difference| {
        let [value, low, high] = [found.value, found.low, found.high].map(format_seconds);
        (
            value,
            format!("({low} to {high}): {}", found.verdict.name()),
        )
    };
    let (value, rest) = words(found);
    let cpu = (added.cpu.as_ref()).filter(|cpu| cpu.verdict != DifferenceVerdict::Invalid);
    let cpu = cpu
        .map(words)
        .map(|(value, rest)| format!("; {value} of CPU per exchange {rest}"));
    Some(format!(
        "{name} adds {value} at {} {rest}{}",
        figure.label(),
        cpu.unwrap_or_default()
    ))
}

/// Which headline of an arm is not concluded on, though the other is.
fn left_out(summary: &Summary, name: &str) -> Option<String> {
    let claims = claims(name, summary.arms.get(name)?);
    let mut figures = claims
        .into_iter()
        .flat_map(|claim| HEADLINES.map(|figure| (claim, figure)));
    let found = |((arm, level), figure)| {
        let row = ruled_out(summary, arm, level, figure)?;
        Some((level, figure, row))
    };
    let (level, figure, row) = figures.find_map(found)?;
    let at = level
        .map(|level| format!(" at {level}"))
        .unwrap_or_default();
    Some(format!(
        "no conclusion on the {} of {name}{at}: {}",
        figure.label(),
        describe_row(row)
    ))
}

fn failed_exchanges(summary: &Summary) -> Vec<String> {
    let failing = summary.arms.iter().filter(|(_, arm)| arm.failed > 0);
    let told = failing.map(|(name, arm)| {
        #[expect(clippy::cast_precision_loss, reason = "a count for people")]
        let failed = format_number(arm.failed as f64);
        let share = 100.0 * arm.failed_share.unwrap_or(0.0);
        let why =
            most_frequent(arm).map_or_else(String::new, |why| format!(", most of them: {why}"));
        format!("note: {failed} exchanges of {name} failed ({share:.2} %){why}")
    });
    told.collect()
}

/// Why more than half of an arm's failures were not answered, if that is one reason.
pub(crate) fn most_frequent(arm: &ArmSummary) -> Option<String> {
    let mut reasons: BTreeMap<Reason, u64> = BTreeMap::new();
    for seen in &arm.failures {
        let path = (seen.reason.as_ref()).map(|reason| format!("{}.{reason}", seen.failure));
        if let Some(reason) = path.as_deref().and_then(Reason::of_path) {
            *reasons.entry(reason).or_default() += seen.count;
        }
    }
    let (reason, count) = reasons.into_iter().max_by_key(|(_, count)| *count)?;
    (2 * count > arm.failed).then(|| reason.sentence())
}

fn dropped_arrivals(summary: &Summary) -> Vec<String> {
    let dropping = summary.arms.iter().filter(|(_, arm)| arm.dropped > 0);
    let told = dropping.map(|(name, arm)| {
        #[expect(clippy::cast_precision_loss, reason = "a count for people")]
        let (dropped, intended) = (arm.dropped as f64, arm.intended as f64);
        format!(
            "note: {} of {} arrivals of {name} were never started ({:.2} %)",
            format_number(dropped),
            format_number(intended),
            100.0 * dropped / intended
        )
    });
    told.collect()
}

/// Notes on connections beside the links that were delayed.
fn undelayed_peers(summary: &Summary) -> Vec<String> {
    let of_arm = |(name, arm): (&String, &ArmSummary)| -> Vec<String> {
        let told = arm.undelayed_peers.iter().map(|UndelayedPeer { component, peer }| {
            format!("note: {name}: {component} talks to {peer} over no delayed link: what that costs was not measured")
        });
        told.collect()
    };
    summary.arms.iter().flat_map(of_arm).collect()
}

fn verdict(result: VerdictResult, reasons: Vec<String>) -> Verdict {
    Verdict { result, reasons }
}
