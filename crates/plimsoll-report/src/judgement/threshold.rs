//! Thresholds: a bound on a metric of one arm, and whether it held.
//!
//! A quantity with an interval passes when the whole interval is on the right side and fails when the whole interval is on the wrong
//! side; between, and without a sample, it is inconclusive. What the measurement cannot carry is not judged.

use crate::record::metric::{Metric, Percentile, Reading};
use crate::record::{Breach, ThresholdOutcome, Unit, ValidityRow, VerdictResult};
use crate::statistics::times_to_bound;
use plimsoll_base::units::{format_bytes, format_number, format_seconds};

/// A bound on a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The arm.
    pub arm: String,
    /// The metric.
    pub metric: Metric,
    /// The side on which it must lie, in the metric's unit.
    pub bound: Bound,
    /// When it ends the load before its time; `None`: never.
    pub abort: Option<Abort>,
}

/// A threshold that is held against the last seconds of a load while it runs, and ends it when it does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abort {
    /// How many measured seconds it looks back; it waits until there are as many.
    pub window_s: u32,
}

/// The side on which a value must lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// Below this.
    Below(f64),
    /// Above this.
    Above(f64),
}

impl Bound {
    /// Whether an exact value lies on the right side.
    #[must_use]
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::Below(limit) => value < limit,
            Self::Above(limit) => value > limit,
        }
    }
}

/// How far a metric can be relied on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Standing<'a> {
    /// Nothing speaks against it.
    Sound,
    /// It is shown with a mark.
    Marked,
    /// It is a difference of arms that do not fail equally often, and the one that fails more does not look slower.
    Reserved,
    /// This row rules it out but for one thing: the truth is not above it.
    TooLarge(&'a ValidityRow),
    /// This row rules it out.
    Invalid(&'a ValidityRow),
}

/// Judges one threshold by what its metric was, what validity says of that metric, and the window in which it ended the load, if it did.
#[must_use]
pub fn judge(
    threshold: &Threshold,
    reading: Reading,
    standing: Standing<'_>,
    breach: Option<Breach>,
) -> ThresholdOutcome {
    let (result, reason) = match breach {
        Some(breach) => decide_breach(threshold, breach, standing),
        None => decide(threshold, reading, standing),
    };
    let (below, above) = match threshold.bound {
        Bound::Below(limit) => (Some(limit), None),
        Bound::Above(limit) => (None, Some(limit)),
    };
    ThresholdOutcome {
        arm: threshold.arm.clone(),
        metric: threshold.metric.path(),
        below,
        above,
        value: reading.value,
        low: ends(reading).0,
        high: ends(reading).1,
        breach,
        result,
        reason,
    }
}

/// A threshold that ended the load has failed, unless the measurement cannot carry that.
fn decide_breach(
    threshold: &Threshold,
    breach: Breach,
    standing: Standing<'_>,
) -> (VerdictResult, String) {
    let subject = format!("{} {}", threshold.arm, threshold.metric.path());
    let show = |value| format_value(value, threshold.metric.unit());
    let limit = match threshold.bound {
        Bound::Below(limit) => format!("below {}", show(limit)),
        Bound::Above(limit) => format!("above {}", show(limit)),
    };
    let found = format!(
        "{subject} was {} in the {} s up to {:.0} s, not {limit}: the load was ended",
        show(breach.value),
        breach.window_s,
        breach.until_s
    );
    let reading = Reading::exact(Some(breach.value));
    match ruled_out(threshold, reading, standing) {
        Some(row) => {
            let why = format!(
                "{found}, but it is not judged: criterion {}, {}: {}",
                row.criterion, row.name, row.advice
            );
            (VerdictResult::Invalid, why)
        }
        None => (VerdictResult::Failed, found),
    }
}

/// A value in its unit, for people.
#[must_use]
pub fn format_value(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Seconds => format_seconds(value),
        Unit::PerSecond => format!("{}/s", format_number(value)),
        Unit::Count => format_number(value),
        Unit::Share => format_share(value),
        Unit::Bytes => format_bytes(value),
        Unit::Cores => format!("{value:.2} cores"),
    }
}

/// In per cent, with as many of three decimals as say something.
fn format_share(share: f64) -> String {
    let text = format!("{:.3}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

fn decide(
    threshold: &Threshold,
    reading: Reading,
    standing: Standing<'_>,
) -> (VerdictResult, String) {
    let subject = format!("{} {}", threshold.arm, threshold.metric.path());
    if let Some(row) = ruled_out(threshold, reading, standing) {
        let reason = format!(
            "{subject} is not judged: criterion {}, {}: {}",
            row.criterion, row.name, row.advice
        );
        return (VerdictResult::Invalid, reason);
    }
    let Some(value) = reading.value else {
        return (
            VerdictResult::Inconclusive,
            format!("{subject} has no sample"),
        );
    };
    let show = |value| format_value(value, threshold.metric.unit());
    let (low, high) = ends(reading);
    let (right, wrong, limit) = match threshold.bound {
        Bound::Below(limit) => (
            high.is_some_and(|high| high < limit),
            low.is_some_and(|low| low >= limit),
            format!("below {}", show(limit)),
        ),
        Bound::Above(limit) => (
            low.is_some_and(|low| low > limit),
            high.is_some_and(|high| high <= limit),
            format!("above {}", show(limit)),
        ),
    };
    let found = found(value, reading, show);
    if standing == Standing::Reserved {
        let reason = format!(
            "{subject} is {found}, but the arms have different failure rates: see validity"
        );
        return (VerdictResult::Inconclusive, reason);
    }
    let marked = match standing {
        Standing::Marked => " (marked: see validity)",
        Standing::TooLarge(_) => " (it may be too large, not too small: see validity)",
        Standing::Sound | Standing::Reserved | Standing::Invalid(_) => "",
    };
    if wrong {
        let reason = format!("{subject} is {found}, not {limit}{marked}");
        return (VerdictResult::Failed, reason);
    }
    if let Some((result, why)) = reading.percentile.and_then(|of| open(threshold.bound, of)) {
        let reason = format!("{subject} is {found}, and cannot be shown to be {limit}: {why}");
        return (result, reason);
    }
    if right {
        (
            VerdictResult::Passed,
            format!("{subject} is {found}, {limit}{marked}"),
        )
    } else {
        (
            VerdictResult::Inconclusive,
            format!("{subject} is {found}: its interval straddles the limit, {limit}{marked}"),
        )
    }
}

/// A value with its interval, for people.
fn found(value: f64, reading: Reading, show: impl Fn(f64) -> String) -> String {
    let at_least = match reading.percentile {
        Some(percentile) if percentile.is_at_least => "at least ",
        _ => "",
    };
    match ends(reading) {
        (Some(low), Some(high)) if low < high || reading.interval.is_some() => {
            format!(
                "{at_least}{} ({} to {})",
                show(value),
                show(low),
                show(high)
            )
        }
        _ => format!("{at_least}{}", show(value)),
    }
}

/// Ends of a value's interval; of one without an interval, itself.
fn ends(reading: Reading) -> (Option<f64>, Option<f64>) {
    match (reading.percentile, reading.interval) {
        (Some(percentile), _) => (percentile.low, percentile.high),
        (None, Some((low, high))) => (Some(low), Some(high)),
        (None, None) => (reading.value, reading.value),
    }
}

/// Why a percentile that looks as if it lay below its limit is not known to: what follows, and the reason. Of one that is to lie above,
/// only whether it has an interval at all.
fn open(bound: Bound, of: Percentile) -> Option<(VerdictResult, String)> {
    let name = percentile_label(of.share);
    if matches!(bound, Bound::Below(_)) && of.without_answer > 1.0 - of.share {
        let lost = format_share(of.without_answer);
        let why = format!(
            "{lost} of the exchanges due had no successful response, more than the {name} tolerates (to judge failures separately, set a threshold on `failed_share`)"
        );
        return Some((VerdictResult::Failed, why));
    }
    if of.cut_short > 0 && matches!(bound, Bound::Below(_)) {
        let why = format!(
            "in {} of {} trials callers had not recovered by themselves, so it would have lasted longer",
            of.cut_short, of.count
        );
        return Some((VerdictResult::Inconclusive, why));
    }
    let needed = times_to_bound(of.share);
    if of.count < needed && matches!(bound, Bound::Below(_)) {
        #[expect(clippy::cast_precision_loss, reason = "counts for people")]
        let [count, needed] = [of.count, needed].map(|n| format_number(n as f64));
        let why = format!("n = {count} is too small: the {name} needs at least {needed}");
        return Some((VerdictResult::Inconclusive, why));
    }
    if of.low.is_none() && of.high.is_none() && !of.is_at_least {
        let why = format!("n = {} is too small for an interval", of.count);
        return Some((VerdictResult::Inconclusive, why));
    }
    if of.high.is_none() && matches!(bound, Bound::Below(_)) {
        let why = "it rests on what was given up or still under way at the end".to_owned();
        return Some((VerdictResult::Inconclusive, why));
    }
    None
}

/// The name of a percentile for people: `p99`, `p99.9`.
fn percentile_label(share: f64) -> String {
    let text = format!("{:.4}", share * 100.0);
    format!("p{}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The row that keeps a value from being judged. One that is too large, if anything, and lies below the limit all the same is judged.
fn ruled_out<'a>(
    threshold: &Threshold,
    reading: Reading,
    standing: Standing<'a>,
) -> Option<&'a ValidityRow> {
    let (Bound::Below(limit) | Bound::Above(limit)) = threshold.bound;
    match standing {
        Standing::Invalid(row) => Some(row),
        Standing::TooLarge(row) => reading
            .value
            .is_none_or(|value| value >= limit)
            .then_some(row),
        Standing::Sound | Standing::Marked | Standing::Reserved => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Bias, Effect, Sense};
    use VerdictResult::{Failed, Inconclusive, Invalid, Passed};

    const MS: f64 = 1e-3;

    fn check(
        bound: Bound,
        reading: Reading,
        standing: Standing<'_>,
        expected: (VerdictResult, &str),
    ) {
        let threshold = Threshold {
            arm: "gateway".to_owned(),
            metric: Metric::parse("added.p99").unwrap(),
            bound,
            abort: None,
        };
        let outcome = judge(&threshold, reading, standing, None);
        assert_eq!((outcome.result, outcome.reason.as_str()), expected);
    }

    fn at(value: f64, low: f64, high: f64) -> Reading {
        Reading {
            value: Some(value * MS),
            interval: Some((low * MS, high * MS)),
            percentile: None,
        }
    }

    #[test]
    fn whole_interval_decides() {
        let check = |bound, reading, expected| check(bound, reading, Standing::Sound, expected);
        let (below, above) = (Bound::Below(MS), Bound::Above(MS));
        let text = "gateway added.p99 is 600 µs (400 µs to 800 µs), below 1.00 ms";
        check(below, at(0.6, 0.4, 0.8), (Passed, text));
        let text = "gateway added.p99 is 1.60 ms (1.00 ms to 2.20 ms), not below 1.00 ms";
        check(below, at(1.6, 1.0, 2.2), (Failed, text));
        let text = "gateway added.p99 is 900 µs (400 µs to 1.40 ms): its interval straddles the limit, below 1.00 ms";
        check(below, at(0.9, 0.4, 1.4), (Inconclusive, text));
        let text = "gateway added.p99 is 1.60 ms (1.10 ms to 2.20 ms), above 1.00 ms";
        check(above, at(1.6, 1.1, 2.2), (Passed, text));
        let text = "gateway added.p99 is 600 µs (400 µs to 1.00 ms), not above 1.00 ms";
        check(above, at(0.6, 0.4, 1.0), (Failed, text));
    }

    #[test]
    fn without_an_interval_nothing_is_decided() {
        let reading = Reading {
            value: Some(0.6 * MS),
            interval: None,
            percentile: Some(Percentile {
                share: 0.5,
                count: 5,
                cut_short: 0,
                is_at_least: false,
                low: None,
                high: None,
                without_answer: 0.0,
            }),
        };
        let text = "gateway added.p99 is 600 µs, and cannot be shown to be below 1.00 ms: n = 5 is too small for an interval";
        let (below, sound) = (Bound::Below(MS), Standing::Sound);
        check(below, reading, sound, (Inconclusive, text));
    }

    #[test]
    fn a_breach_fails_what_would_have_held_over_the_whole_run() {
        let threshold = Threshold {
            arm: "main".to_owned(),
            metric: Metric::parse("response_time.p99").unwrap(),
            bound: Bound::Below(MS),
            abort: Some(Abort { window_s: 10 }),
        };
        let breach = Breach {
            window_s: 10,
            until_s: 34.2,
            value: 1.2,
        };
        let whole = Reading::exact(Some(0.5 * MS));
        let outcome = judge(&threshold, whole, Standing::Sound, Some(breach));
        let text = "main response_time.p99 was 1.20 s in the 10 s up to 34 s, not below 1.00 ms: the load was ended";
        assert_eq!((outcome.result, outcome.reason.as_str()), (Failed, text));
        assert_eq!(outcome.breach, Some(breach));
    }

    #[test]
    fn what_cannot_be_judged() {
        let below = Bound::Below(MS);
        let text = "gateway added.p99 has no sample";
        check(
            below,
            Reading::default(),
            Standing::Sound,
            (Inconclusive, text),
        );
        let row = ValidityRow {
            criterion: 2,
            name: "lateness".to_owned(),
            arm: "gateway".to_owned(),
            level: None,
            value: None,
            limit: 0.0,
            unit: "s".to_owned(),
            sense: Sense::AtMost,
            ok: false,
            effect: Effect::Invalid,
            bias: Bias::TooLarge,
            affects: Vec::new(),
            advice: "Lower the rate.".to_owned(),
        };
        let text = "gateway added.p99 is not judged: criterion 2, lateness: Lower the rate.";
        let ruled_out = Standing::Invalid(&row);
        check(below, at(0.6, 0.4, 0.8), ruled_out, (Invalid, text));
        let text = "gateway added.p99 is 600 µs (400 µs to 800 µs), but the arms have different failure rates: see validity";
        let exact = |value: f64| Reading::exact(Some(value * MS));
        let too_large = Standing::TooLarge(&row);
        let kept = "gateway added.p99 is 600 µs, below 1.00 ms (it may be too large, not too small: see validity)";
        check(below, exact(0.6), too_large, (Passed, kept));
        let open = "gateway added.p99 is not judged: criterion 2, lateness: Lower the rate.";
        check(below, exact(1.6), too_large, (Invalid, open));
        check(Bound::Above(MS), exact(1.6), too_large, (Invalid, open));
        let reserved = Standing::Reserved;
        check(below, at(0.6, 0.4, 0.8), reserved, (Inconclusive, text));
        let text =
            "gateway added.p99 is 600 µs (400 µs to 800 µs), below 1.00 ms (marked: see validity)";
        check(below, at(0.6, 0.4, 0.8), Standing::Marked, (Passed, text));
    }
}
