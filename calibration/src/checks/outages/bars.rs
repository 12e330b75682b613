//! Limits that must hold of outages whose lengths are known.

use super::{Findings, Found};
use crate::bar::Bar;
use crate::bench::trials;
use crate::rounds::median;

/// Of so many trials that tell a length one may miss the truth.
const MISSES_ONE_OF: usize = 50;
/// An interval is at most so many mean distances of requests wide, where all of them fail.
const WIDTH: f64 = 2.5;
/// As much where some fail, in mean distances of those: as wide as one that holds 98 % has to be, 6.6 of twenty failures and 5.8 of very many.
const WIDTH_OF_SOME: f64 = 8.0;
/// Outages that hit so many requests in the mean are seen, unless the machine stood still for longer than they were.
const SEEN: f64 = 10.0;
/// Of so many of them the machine may have done so in one: a resolution that is coarser still would hide what is to be seen.
const HIDDEN_ONE_OF: usize = 5;
/// Outages of some that hit so many are seen well enough to ask for a width.
const SEEN_WELL: f64 = 20.0;
/// Share of the lost time, and of the distance of requests, by which it may be off in the mean.
const BIAS: (f64, f64) = (0.01, 0.1);

pub(super) fn bars(findings: &Findings) -> Vec<Bar> {
    let counted: Vec<&Found> = (findings.found.iter())
        .filter(|one| one.trial.counts())
        .collect();
    let void = findings.found.len() - counted.len();
    let reasons = trials::reasons(findings.found.iter().map(|one| &one.trial));
    let all = format!(
        "{} of {} trials count, {void} were void: {reasons}",
        counted.len(),
        findings.wanted
    );
    if counted.len() * 5 < findings.wanted * 4 {
        return vec![Bar::not_measured("outages", all)];
    }
    let some = |is: fn(&Found) -> bool| -> Vec<&Found> {
        counted.iter().copied().filter(|one| is(one)).collect()
    };
    let total = some(|one| one.cell.each == 1 && !one.trial.is_below);
    let partial = some(|one| one.cell.each > 1 && one.cell.hits() >= SEEN_WELL);
    let mut bars = vec![
        intervals(&counted),
        resolution(&counted),
        width("all accounts: width of the interval", WIDTH, &total),
        width(
            "some accounts: width of the interval",
            WIDTH_OF_SOME,
            &partial,
        ),
    ];
    bars.extend(super::RATES.iter().filter_map(|rate| {
        let of_rate = counted.iter().filter(|one| one.cell.rate == *rate);
        lost(*rate, &of_rate.copied().collect::<Vec<_>>())
    }));
    bars.push(shams(findings));
    bars.push(Bar::shown("trials", "", all));
    bars
}

/// A trial in a few words.
fn words(one: &Found) -> String {
    let ms = |seconds: f64| seconds * 1e3;
    let (low, high) = (ms(one.trial.outage.low), ms(one.trial.outage.high));
    let (cell, truth) = (one.cell.name(), ms(one.length()));
    format!(
        "{cell} at {}/s: {low:.1} to {high:.1} ms, true {truth:.1}, resolution {:.1}",
        one.cell.rate,
        ms(one.trial.resolution)
    )
}

fn listed(found: &[&&Found]) -> String {
    let each = found.iter().map(|one| format!("; {}", words(one)));
    each.collect()
}

/// Intervals of the outages that are said to be long enough to be told.
fn intervals(counted: &[&Found]) -> Bar {
    let told: Vec<&&Found> = counted.iter().filter(|one| !one.trial.is_below).collect();
    let missed: Vec<&&Found> = (told.iter().copied())
        .filter(|one| !one.holds_within(0.0))
        .collect();
    let held = told.len() - missed.len();
    let nearly = |one: &&&&Found| one.holds_within(one.trial.resolution);
    let near = missed.iter().filter(nearly).count();
    let may_miss = told.len() / MISSES_ONE_OF;
    Bar::judged(
        "the interval of an outage above the resolution",
        format!("misses the truth in at most one of {MISSES_ONE_OF} trials: {may_miss}"),
        format!(
            "holds it in {held} of {}, misses it by less than the resolution in {near}{}",
            told.len(),
            listed(&missed)
        ),
        !told.is_empty() && missed.len() <= may_miss,
    )
}

/// Outages that are too short to be told are called so, and no other is that hit enough requests.
fn resolution(counted: &[&Found]) -> Bar {
    let too_short = |one: &&&Found| one.length() < one.trial.resolution;
    let short: Vec<&&Found> = counted.iter().filter(too_short).collect();
    let long: Vec<&&Found> = counted
        .iter()
        .filter(|one| one.cell.hits() >= SEEN)
        .collect();
    // It may be above what it can be told from by the luck of three arrivals, if the interval is right.
    let wrong = |one: &&&Found| !one.trial.is_below && !one.holds_within(0.0);
    let not_called: Vec<&&Found> = short.iter().copied().filter(wrong).collect();
    let (hidden, seen): (Vec<&&Found>, Vec<&&Found>) = (long.iter().copied()).partition(too_short);
    let unseen: Vec<&&Found> = seen.into_iter().filter(|one| one.trial.is_below).collect();
    let called = short.iter().filter(|one| one.trial.is_below).count();
    Bar::judged(
        "outages below the resolution",
        format!(
            "called so, or their interval right; none above it that hit {SEEN:.0} requests or more is, and of these at most one in {HIDDEN_ONE_OF} is below"
        ),
        format!(
            "{called} of {} called so{}; of {} that hit {SEEN:.0} or more {} are below, {} others called so{}",
            short.len(),
            listed(&not_called),
            long.len(),
            hidden.len(),
            unseen.len(),
            listed(&unseen),
        ),
        not_called.is_empty() && unseen.is_empty() && hidden.len() * HIDDEN_ONE_OF <= long.len(),
    )
}

/// The width of intervals in mean distances of the requests that fail.
fn width(what: &str, limit: f64, found: &[&Found]) -> Bar {
    let width =
        |one: &&Found| (one.trial.outage.high - one.trial.outage.low) * one.cell.hit_per_s();
    let widths: Vec<f64> = found.iter().map(width).collect();
    if widths.is_empty() {
        return Bar::not_measured(what, "there is none");
    }
    let middle = median(widths.clone());
    let widest = widths.iter().copied().fold(0.0, f64::max);
    Bar::judged(
        what,
        format!("median at most {limit} mean distances of the requests that fail"),
        format!(
            "{middle:.2} over {} trials, the widest {widest:.2}",
            widths.len()
        ),
        middle <= limit,
    )
}

/// Lost-request seconds beside those that were really lost; `None` where there was no trial.
fn lost(rate: u32, counted: &[&Found]) -> Option<Bar> {
    #[expect(clippy::cast_precision_loss, reason = "a number of trials")]
    let number = counted.len() as f64;
    if counted.is_empty() {
        return None;
    }
    let mean = |of: fn(&Found) -> f64| counted.iter().map(|one| of(one)).sum::<f64>() / number;
    let truth = mean(Found::lost);
    let off = mean(|one| one.trial.outage.lost) - truth;
    let limit = BIAS.0 * truth + BIAS.1 / f64::from(rate);
    Some(Bar::judged(
        format!("lost-request seconds at {rate}/s, in the mean"),
        format!("off by at most 1 % and 0.1/rate: {:.2} ms", limit * 1e3),
        format!("{:+.2} ms of {:.1} ms", off * 1e3, truth * 1e3),
        off.abs() <= limit,
    ))
}

fn shams(findings: &Findings) -> Bar {
    let counted: Vec<_> = findings.shams.iter().filter(|one| one.counts()).collect();
    let with_any = counted.iter().filter(|one| one.failed > 0).count();
    Bar::judged(
        "shams beside them",
        "no outage",
        format!("{with_any} of {} have one", counted.len()),
        with_any == 0,
    )
}

#[cfg(test)]
mod tests {
    use super::super::cells::Cell;
    use super::*;
    use crate::bar::Verdict;
    use crate::bench::trials::{Outage, Trial};
    use crate::clock;
    use crate::target::failing::{Failure, How};
    use std::time::Duration;

    /// A trial of an outage of so many milliseconds for all, at 1,000/s.
    fn found(ms: u64, (low, high): (f64, f64), is_below: bool) -> Found {
        let length = Duration::from_millis(ms);
        let began = clock::now();
        let (how, each) = (How::Unavailable, 1);
        Found {
            cell: Cell {
                how,
                each,
                length,
                rate: 1_000,
            },
            trial: Trial {
                number: 1,
                row: String::new(),
                outage: Outage {
                    low,
                    high,
                    lost: low.midpoint(high),
                    ..Outage::default()
                },
                failed: 1,
                resolution: 0.002,
                is_below,
                void: Vec::new(),
            },
            failure: Failure {
                how,
                each,
                began,
                ended: Some(began + length),
                unsure: Duration::ZERO,
                requests: ms,
            },
        }
    }

    #[test]
    fn intervals_and_resolutions_are_held_against_the_truth() {
        let check = |one: Found, interval, short| {
            let counted = [&one];
            let verdicts = [intervals(&counted), resolution(&counted)].map(|bar| bar.verdict);
            assert_eq!(verdicts, [interval, short], "{}", words(&one));
        };
        let (held, failed) = (Verdict::Held, Verdict::Failed);
        check(found(50, (0.049, 0.051), false), held, held);
        check(found(50, (0.0505, 0.052), false), failed, held);
        // Fifty requests were hit: it is not too short.
        check(found(50, (0.0, 0.001), true), failed, failed);
        check(found(1, (0.0, 0.0), true), failed, held);
        check(found(1, (0.002, 0.003), false), failed, failed);
    }

    #[test]
    fn one_of_fifty_may_miss() {
        let held: Vec<Found> = (0..49).map(|_| found(50, (0.049, 0.051), false)).collect();
        let missed = found(50, (0.0505, 0.052), false);
        let check = |number: usize, expected| {
            let counted: Vec<&Found> = held[..number].iter().chain([&missed]).collect();
            assert_eq!(intervals(&counted).verdict, expected);
        };
        check(49, Verdict::Held);
        check(48, Verdict::Failed);
    }

    #[test]
    fn a_machine_that_stands_still_hides_few() {
        let mut hidden = found(10, (0.0, 0.0), true);
        hidden.trial.resolution = 0.012;
        let seen = found(50, (0.049, 0.051), false);
        assert_eq!(resolution(&[&hidden]).verdict, Verdict::Failed);
        let among_others = resolution(&[&hidden, &seen, &seen, &seen, &seen]);
        assert_eq!(among_others.verdict, Verdict::Held);
    }

    #[test]
    fn lost_seconds_are_unbiased_in_the_mean() {
        let check = |lows: [f64; 2], expected| {
            let two = lows.map(|low| found(50, (low, low), false));
            let bar = lost(1_000, &[&two[0], &two[1]]).unwrap();
            assert_eq!(bar.verdict, expected, "{}", bar.measured);
        };
        check([0.045, 0.055], Verdict::Held);
        check([0.049, 0.0500], Verdict::Held);
        check([0.048, 0.050], Verdict::Failed);
        assert!(lost(150, &[]).is_none());
    }

    #[test]
    fn widths_are_in_distances_of_requests() {
        let check = |high, expected| {
            let one = found(50, (0.050, high), false);
            assert_eq!(width("", WIDTH, &[&one]).verdict, expected);
        };
        check(0.0524, Verdict::Held);
        check(0.0526, Verdict::Failed);
    }
}
