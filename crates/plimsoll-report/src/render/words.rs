//! Figures as words for people: one spelling for all renderers.

use crate::capacity::judge::objective_words;
use crate::judgement::threshold::format_value;
use crate::judgement::validity;
use crate::judgement::verdict::describe_power;
use crate::record::metric::Metric;
use crate::record::{
    Difference, DifferenceVerdict, Effect, Failure, MethodName, Reservation, RunState, Sense,
    Statistic, Summary, TimeStatistics, ValidityRow, VerdictResult,
};
use crate::render::view::RunView;
use plimsoll_base::units::{format_bytes, format_number, format_seconds};
use plimsoll_base::visible::in_line;
use std::collections::BTreeSet;

/// Sign in place of a missing sample.
pub(super) const NOTHING: &str = "–";

/// A time, or the sign for none.
pub(super) fn time(seconds: Option<f64>) -> String {
    seconds.map_or_else(
        || NOTHING.to_owned(),
        |s| format_seconds(s).replace('-', "−"),
    )
}

/// A difference of times with its sign.
pub(crate) fn signed_time(seconds: f64) -> String {
    let text = time(Some(seconds));
    if seconds > 0.0 {
        format!("+{text}")
    } else {
        text
    }
}

/// An interval of differences.
pub(crate) fn interval(difference: &Difference) -> String {
    format!(
        "{} to {}",
        signed_time(difference.low),
        signed_time(difference.high)
    )
}

/// A rate or a plain number.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), format_number)
}

/// A whole number.
#[expect(
    clippy::cast_precision_loss,
    reason = "shown with thousands separators; exact below 2^53"
)]
pub(super) fn count(value: u64) -> String {
    format_number(value as f64)
}

/// Processors used.
pub(super) fn cores(value: Option<f64>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |cores| format!("{cores:.2}"))
}

/// A size.
#[expect(clippy::cast_precision_loss, reason = "shown with two digits")]
pub(super) fn bytes(value: Option<u64>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |bytes| format_bytes(bytes as f64))
}

/// Failed exchanges with their share.
pub(super) fn failures(failed: u64, share: Option<f64>) -> String {
    match share {
        Some(share) if failed > 0 => format!("{} ({})", count(failed), percent(share)),
        _ => count(failed),
    }
}

/// A kind of failure, by its name in files and that of its reason within it, as words.
pub(super) fn failure(name: &str, reason: Option<&str>) -> String {
    let known = Failure::of_names(name, reason);
    known.map_or_else(|| name.to_owned(), |known| known.words())
}

/// A share in per cent, with enough digits that something is never shown as nothing.
pub(super) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.0001 {
        "< 0.01 %".to_owned()
    } else {
        format!("{:.2} %", share * 100.0)
    }
}

/// The value of a validity row in its unit.
pub(super) fn validity_value(value: Option<f64>, row: &ValidityRow) -> String {
    let Some(value) = value else {
        return NOTHING.to_owned();
    };
    match row.unit.as_str() {
        "s" => format_seconds(value),
        "share" => percent(value),
        "cores" => cores(Some(value)),
        _ => format_number(value),
    }
}

/// The limit of a row, with the side of it that is wanted.
pub(super) fn validity_limit(row: &ValidityRow) -> String {
    let sign = match row.sense {
        Sense::AtLeast => "≥",
        Sense::AtMost => "≤",
    };
    format!("{sign} {}", validity_value(Some(row.limit), row))
}

/// Conclusion from a difference; an undecided one always says what could have been found.
pub(crate) fn conclusion(difference: &Difference) -> String {
    let name = difference.verdict.name();
    let words = match difference.verdict {
        DifferenceVerdict::Inconclusive if difference.reservation.is_some() => name.to_owned(),
        DifferenceVerdict::Inconclusive => format!(
            "{name}: {}",
            describe_power(
                difference.minimum_detectable,
                difference.blocks,
                difference.more_blocks
            )
        ),
        DifferenceVerdict::Equivalent => {
            format!("{name} within ±{}", format_seconds(difference.margin))
        }
        DifferenceVerdict::Worse | DifferenceVerdict::Improved => name.to_owned(),
        DifferenceVerdict::Invalid => format!("{name}: see validity"),
    };
    let mut remarks = Vec::new();
    if difference.reservation == Some(Reservation::Failures) {
        remarks.push("the arms have different failure rates".to_owned());
    }
    if difference.blocks < difference.planned_blocks {
        remarks.push(format!(
            "{} of {} blocks",
            difference.blocks, difference.planned_blocks
        ));
    }
    if remarks.is_empty() {
        words
    } else {
        format!("{words} ({})", remarks.join("; "))
    }
}

/// The name for people of a figure of which arms differ.
pub(super) fn figure_label(name: &'static str) -> &'static str {
    let mut statistics = Statistic::ALL.into_iter();
    match statistics.find(|one| one.name() == name) {
        Some(statistic) => statistic.label(),
        None => "CPU per exchange",
    }
}

/// A figure of a distribution; one that is a lower bound says so.
pub(super) fn shown(times: &TimeStatistics, statistic: Statistic) -> String {
    bounded(times, times.get(statistic), statistic.share())
}

/// The largest of a distribution, likewise.
pub(super) fn largest(times: &TimeStatistics) -> String {
    bounded(times, times.max, Some(1.0))
}

fn bounded(times: &TimeStatistics, value: Option<f64>, share: Option<f64>) -> String {
    let sign = match value.is_some() && times.is_at_least(share) {
        true => "≥ ",
        false => "",
    };
    format!("{sign}{}", time(value))
}

/// The sign beside a figure that validity has something to say about.
pub(super) fn mark(summary: &Summary, arm: &str, time: &str, figure: &str) -> &'static str {
    let path = format!("{time}.{figure}");
    let Ok(metric) = Metric::parse(&path) else {
        return "";
    };
    match validity::effect_on(&summary.validity, arm, &metric) {
        Effect::None => "",
        Effect::Marked => "†",
        Effect::Invalid => "‡",
    }
}

/// Meaning of the signs; empty when none is shown.
pub(super) fn mark_legend(summary: &Summary) -> &'static str {
    let of_arms = |row: &&ValidityRow| {
        let mut affects = row.affects.iter();
        row.affects.is_empty() || affects.any(|path| !path.starts_with("added"))
    };
    let rows = summary.validity.iter().filter(of_arms);
    let worst = rows.map(|row| row.effect).max();
    match worst {
        Some(Effect::Marked) => "† may be distorted, or is a lower bound (≥): see validity",
        Some(Effect::Invalid) => {
            "† may be distorted, or is a lower bound (≥); ‡ too distorted to conclude anything from: see validity"
        }
        Some(Effect::None) | None => "",
    }
}

/// A threshold's bound.
pub(super) fn bound(outcome: &crate::record::ThresholdOutcome) -> String {
    let unit = Metric::parse(&outcome.metric).map(|metric| metric.unit());
    let show = |value| {
        unit.as_ref()
            .map_or_else(|_| format_number(value), |u| format_value(value, *u))
    };
    match (outcome.below, outcome.above) {
        (Some(limit), _) => format!("below {}", show(limit)),
        (None, Some(limit)) => format!("above {}", show(limit)),
        (None, None) => String::new(),
    }
}

/// How the run was made, in a few words.
pub(super) fn method(view: &RunView) -> String {
    let summary = &view.summary;
    let method = match (summary.method, &summary.comparison) {
        (MethodName::Compare, Some(comparison)) => {
            let blocks = comparison.blocks;
            let noun = if blocks == 1 { "block" } else { "blocks" };
            format!("compare with {}, {blocks} {noun}", comparison.baseline)
        }
        (MethodName::Compare, None) => "compare".to_owned(),
        (MethodName::Measure, _) => "measure".to_owned(),
        (MethodName::Levels, _) => {
            let levels = summary.arms.values().map(|arm| arm.levels.len()).max();
            format!("{} levels", levels.unwrap_or(0))
        }
        (MethodName::Sensitivity, _) => {
            let links = summary.arms.values().map(|arm| arm.links.len()).max();
            match links.unwrap_or(0) {
                1 => "sensitivity to one link".to_owned(),
                links => format!("sensitivity to {links} links"),
            }
        }
        (MethodName::Availability, _) => {
            let found = summary
                .arms
                .values()
                .find_map(|arm| arm.availability.as_ref());
            let (faults, trials) = found.map_or((0, 0), |found| {
                (found.settings.faults.len(), found.trials.len())
            });
            format!("availability under {faults} faults, {trials} trials")
        }
        (MethodName::Capacity, _) => {
            let mut found = summary
                .arms
                .values()
                .filter_map(|arm| arm.capacity.as_ref());
            let objective = found.next().map(|found| objective_words(&found.objective));
            format!("capacity within {}", objective.unwrap_or_default())
        }
    };
    match state(view.manifest.state) {
        Some(state) => format!("{method}, {state}"),
        None => method,
    }
}

/// Whether the run reached its end, if there is something to say about that.
pub(super) fn state(state: RunState) -> Option<&'static str> {
    match state {
        RunState::Complete => None,
        RunState::Interrupted => Some("interrupted: results up to that point are kept"),
        RunState::Aborted => Some("ended by a threshold: results up to that point are kept"),
        RunState::Running => Some("not finished"),
    }
}

/// How differences were judged.
pub(super) fn comparison_method(summary: &Summary) -> Option<String> {
    use crate::record::IntervalMethod;
    let comparison = summary.comparison.as_ref()?;
    let method = match comparison.interval {
        Some(IntervalMethod::PairedT) => "Student's t",
        Some(IntervalMethod::BootstrapT) => "bootstrap-t",
        None => {
            return Some(
                "Fewer than two blocks hold every arm, so nothing is compared.".to_owned(),
            );
        }
    };
    let several = summary.arms.values().filter(|arm| arm.added.is_some());
    let corrected = match several.count() {
        0 | 1 => String::new(),
        arms => format!(" Conclusions on {arms} arms are corrected for their number (Holm)."),
    };
    Some(format!(
        "Mean of the differences over {} blocks with {} interval ({method} over blocks); each interval stands alone. Equivalent: within {} of {}.{corrected}",
        comparison.blocks,
        short_percent(comparison.confidence),
        short_percent(comparison.margin_share),
        comparison.baseline
    ))
}

/// How many criteria these rows are of: each has rows for every arm, and may look at several things.
pub(super) fn criteria<'a>(rows: impl IntoIterator<Item = &'a ValidityRow>) -> usize {
    numbers(rows).len()
}

fn numbers<'a>(rows: impl IntoIterator<Item = &'a ValidityRow>) -> BTreeSet<u32> {
    rows.into_iter().map(|row| row.criterion).collect()
}

/// How many criteria are not met, and how many of the others mark figures all the same; `None` where all are met.
pub(super) fn broken(rows: &[ValidityRow]) -> Option<String> {
    let failing = numbers(rows.iter().filter(|row| !row.ok));
    let marking = numbers(rows.iter().filter(|row| row.effect != Effect::None));
    let verb = match failing.len() {
        0 => return None,
        1 => "is",
        _ => "are",
    };
    let more = match marking.difference(&failing).count() {
        0 => String::new(),
        1 => ", and 1 more is met but marks figures".to_owned(),
        count => format!(", and {count} more are met but mark figures"),
    };
    let (count, all) = (failing.len(), criteria(rows));
    Some(format!("{count} of {all} criteria {verb} not met{more}"))
}

/// Times for which alone no criterion fails.
const PARTS: [&str; 2] = ["first_byte_time", "body_time"];

/// That every criterion holds, as far as that is true: those that reach only figures beyond the p99, or parts
/// of the service time, hold and mark these.
pub(super) fn all_hold(rows: &[ValidityRow]) -> String {
    let all = match criteria(rows) {
        1 => "the only criterion is met".to_owned(),
        count => format!("all {count} criteria are met"),
    };
    let mut marked = rows.iter().filter(|row| row.effect != Effect::None);
    let is_of_part = |path: &String| {
        let is_beyond = path.ends_with(".p999") || path.ends_with(".max");
        !is_beyond && PARTS.iter().any(|part| path.starts_with(part))
    };
    if marked.clone().next().is_none() {
        all
    } else if marked.any(|row| row.affects.iter().any(is_of_part)) {
        format!(
            "{all} for percentiles up to p99; figures beyond it, and of parts of the service time, are marked"
        )
    } else {
        format!("{all} for percentiles up to p99; figures beyond it are marked")
    }
}

/// Whether the measurement can be trusted, in a sentence.
pub(super) fn trust(rows: &[ValidityRow]) -> String {
    match broken(rows) {
        None => format!("All unmarked figures are valid: {}.", all_hold(rows)),
        Some(broken) => {
            format!(
                "{broken}. A criterion affects only the figures it concerns: all others remain valid."
            )
        }
    }
}

/// Whether an arm was compared with the baseline at all.
pub(super) fn has_differences(summary: &Summary) -> bool {
    let mut added = summary.arms.values().filter_map(|arm| arm.added.as_ref());
    added.any(|added| added.all().next().is_some())
}

/// Arms that were left out, each with its reason.
pub(super) fn left_out(summary: &Summary) -> Vec<String> {
    let absent = summary.absent.iter();
    absent
        .map(|absent| {
            format!(
                "{} was left out: component `{}`: {}",
                absent.arm, absent.component, absent.reason
            )
        })
        .collect()
}

/// The verdict in one word. A run that was asked nothing has passed nothing: it measured.
pub(super) fn headline(summary: &Summary) -> &'static str {
    match summary.verdict.result {
        VerdictResult::Passed if summary.thresholds.is_empty() => "measured",
        result => result.name(),
    }
}

/// Text from outside as one line that cannot steer a terminal.
pub(super) fn plain(text: &str) -> String {
    in_line(text).into_owned()
}

fn short_percent(share: f64) -> String {
    format!("{} %", format_number(share * 100.0))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::record::Bias;

    #[test]
    fn spellings() {
        for (actual, expected) in [
            (time(None), "–"),
            (signed_time(612e-6), "+612 µs"),
            (signed_time(-3e-3), "−3.00 ms"),
            (signed_time(0.0), "0 µs"),
            (count(75_000), "75,000"),
            (failures(0, Some(0.0)), "0"),
            (failures(12, Some(0.000_012)), "12 (< 0.01 %)"),
            (failures(12, Some(0.012)), "12 (1.20 %)"),
            (cores(Some(0.5)), "0.50"),
            (bytes(Some(3 << 20)), "3 MiB"),
            (plain("a\u{1b}[31mb\n"), r"a\u{1b}[31mb\n"),
        ] {
            assert_eq!(actual, expected);
        }
    }

    /// A row for each criterion: its number, whether it holds, and what follows.
    pub(in crate::render) fn rows(of: &[(u32, bool, Effect)]) -> Vec<ValidityRow> {
        let row = |&(criterion, ok, effect): &(u32, bool, Effect)| ValidityRow {
            criterion,
            name: format!("what {criterion} looks at"),
            arm: "a".to_owned(),
            level: None,
            value: Some(2.0),
            limit: 1.0,
            unit: "count".to_owned(),
            sense: Sense::default(),
            ok,
            effect,
            bias: Bias::default(),
            affects: Vec::new(),
            advice: "Mend it.".to_owned(),
        };
        of.iter().map(row).collect()
    }

    #[test]
    fn who_only_marks_is_counted_apart() {
        let check = |of: &[(u32, bool, Effect)], expected: Option<&str>| {
            assert_eq!(broken(&rows(of)).as_deref(), expected);
        };
        let (none, marked, invalid) = (Effect::None, Effect::Marked, Effect::Invalid);
        check(&[(1, true, none), (2, true, marked)], None);
        check(
            &[(1, true, none), (2, false, invalid), (3, true, marked)],
            Some("1 of 3 criteria is not met, and 1 more is met but marks figures"),
        );
        // What fails in one arm and marks in another is one that does not hold.
        check(
            &[(1, false, invalid), (2, false, invalid), (2, true, marked)],
            Some("2 of 2 criteria are not met"),
        );
    }
}
