//! Paths of metrics: what may stand where, by the records' own declarations, and the names of percentiles.

use crate::record::figures::Figures;
use crate::record::times::Timed;
use crate::record::{
    Added, ArmSummary, CapacitySummary, ComponentSummary, Difference, ExpectedYear,
    FailedFailovers, FaultOutages, GroupSummary, LevelSummary, LinkSummary, OutageFigures,
    Outcomes, ServerStatistics, Statistic, StepSummary, Strain, TimeStatistics, Times, Unit, Year,
};
use plimsoll_base::document::nearest;
use plimsoll_base::reason::Reason;
use std::collections::BTreeSet;

/// Digits of a percentile: one of more would take a million times.
const MOST_DIGITS: usize = 6;

/// The segments of a path and the unit that it leads to; or the prefix that is right, and the names that may follow it.
pub(super) type Parsed = Result<(Vec<String>, Unit), (String, Vec<String>)>;

pub(super) fn parse(path: &str) -> Parsed {
    if let Some(unit) = lookup(&units::<ArmSummary>(), path) {
        return found(&[path], unit);
    }
    if path == "capacity" {
        return found(&[path], Unit::PerSecond);
    }
    let (head, rest) = path.split_once('.').unwrap_or((path, ""));
    let times = [times::<Times>(), times::<ArmSummary>()].concat();
    match head {
        "added" => parse_added(rest),
        "levels" => parse_named(head, rest, |tail| parse_part(&level(), tail)),
        "capacity" => match lookup(&units::<CapacitySummary>(), rest) {
            Some(unit) => found(&[head, rest], unit),
            None => expected(head, names(&units::<CapacitySummary>())),
        },
        "links" => parse_named(head, rest, parse_link),
        "availability" => below(head, parse_availability(rest)),
        "by_step" => parse_named(head, rest, |tail| parse_part(&step(), tail)),
        "by_group" => parse_named(head, rest, |tail| parse_part(&group(), tail)),
        "checks" => parse_check(rest),
        "components" => parse_named(head, rest, parse_component),
        "outcomes" => parse_outcome(rest),
        "reasons" => parse_reason(rest),
        time if times.contains(&time) => parse_figure(time, rest),
        _ => expected(
            "",
            names(&units::<ArmSummary>()).chain(times).chain([
                "added",
                "outcomes",
                "reasons",
                "by_step",
                "by_group",
                "checks",
                "components",
                "levels",
                "capacity",
                "links",
                "availability",
            ]),
        ),
    }
}

/// Numbers of a record by name.
type Units = Vec<(&'static str, Unit)>;

fn units<T: Figures>() -> Units {
    let figures = T::FIGURES.iter();
    figures.map(|figure| (figure.name, figure.unit)).collect()
}

fn times<T: Timed>() -> Vec<&'static str> {
    T::TIMES.iter().map(|(name, _)| *name).collect()
}

fn names(units: &Units) -> impl Iterator<Item = &'static str> {
    units.iter().map(|(name, _)| *name)
}

type Parse = fn(&str) -> Parsed;

/// A record below an arm: its numbers, its times, and more below names of their own.
struct RecordPart {
    prefix: &'static str,
    units: Units,
    times: Vec<&'static str>,
    more: &'static [(&'static str, Parse)],
}

impl RecordPart {
    fn of<T: Figures + Timed>(
        prefix: &'static str,
        more: &'static [(&'static str, Parse)],
    ) -> Self {
        Self {
            prefix,
            units: units::<T>(),
            times: times::<T>(),
            more,
        }
    }
}

fn step() -> RecordPart {
    RecordPart::of::<StepSummary>(
        "by_step.<name>",
        &[
            ("outcomes", parse_outcome),
            ("reasons", parse_reason),
            ("checks", parse_check),
        ],
    )
}

fn level() -> RecordPart {
    RecordPart::of::<LevelSummary>(
        "levels.<name>",
        &[
            ("outcomes", parse_outcome),
            ("components", |rest| {
                parse_named("components", rest, parse_component)
            }),
        ],
    )
}

fn group() -> RecordPart {
    RecordPart::of::<GroupSummary>("by_group.<name>", &[])
}

fn parse_part(part: &RecordPart, path: &str) -> Parsed {
    if let Some(unit) = lookup(&part.units, path) {
        return found(&[path], unit);
    }
    let (head, rest) = path.split_once('.').unwrap_or((path, ""));
    if part.times.contains(&head) {
        return parse_figure(head, rest);
    }
    match part.more.iter().find(|(name, _)| *name == head) {
        Some((_, parse)) => parse(rest),
        None => {
            let more = part.more.iter().map(|(name, _)| *name);
            let times = part.times.iter().copied();
            expected(part.prefix, names(&part.units).chain(times).chain(more))
        }
    }
}

fn parse_check(rest: &str) -> Parsed {
    parse_named("checks", rest, |tail| match tail {
        "passed" | "failed" => found(&[tail], Unit::Count),
        _ => expected("checks.<name>", ["passed", "failed"]),
    })
}

fn parse_component(tail: &str) -> Parsed {
    if let Some(field) = tail.strip_prefix("server.")
        && let Some(unit) = lookup(&units::<ServerStatistics>(), field)
    {
        return found(&["server", field], unit);
    }
    let units = [units::<ComponentSummary>(), units::<Strain>()].concat();
    match lookup(&units, tail) {
        Some(unit) => found(&[tail], unit),
        None => expected("components.<name>", names(&units).chain(["server.<field>"])),
    }
}

fn parse_added(rest: &str) -> Parsed {
    let (figure, end) = rest.split_once('.').unwrap_or((rest, ""));
    let mut figures = Statistic::ALL.map(Statistic::name).to_vec();
    figures.push(Added::CPU);
    if !figures.contains(&figure) {
        return expected("added", figures);
    }
    match end {
        "" => found(&["added", figure], Unit::Seconds),
        _ => match lookup(&units::<Difference>(), end) {
            Some(unit) => found(&["added", figure, end], unit),
            None => expected("added.<figure>", names(&units::<Difference>())),
        },
    }
}

fn parse_link(rest: &str) -> Parsed {
    const SLOPES: [&str; 3] = ["mean", "p50", "p99"];
    match rest.split_once('.').unwrap_or((rest, "")) {
        ("slope", slope) if SLOPES.contains(&slope) => found(&["slope", slope], Unit::Count),
        ("slope", _) => expected("links.<name>.slope", SLOPES),
        ("gain", "share") => found(&["gain", "share"], Unit::Share),
        ("gain" | "hinge_s", "") => found(&[rest], Unit::Seconds),
        _ => match lookup(&units::<LinkSummary>(), rest) {
            Some(unit) => found(&[rest], unit),
            None => {
                let own = names(&units::<LinkSummary>()).collect::<Vec<_>>();
                expected(
                    "links.<name>",
                    own.into_iter().chain(["slope", "gain", "hinge_s"]),
                )
            }
        },
    }
}

fn parse_availability(rest: &str) -> Parsed {
    match rest.split_once('.').unwrap_or((rest, "")) {
        ("faults", rest) => parse_named("faults", rest, parse_outages),
        ("annual", rest) => below("annual", parse_annual(rest)),
        _ => expected("", ["faults", "annual"]),
    }
}

fn parse_outages(rest: &str) -> Parsed {
    let own = units::<FaultOutages>();
    let failed = units::<FailedFailovers>();
    let outage = units::<OutageFigures>();
    match rest.split_once('.').unwrap_or((rest, "")) {
        ("outage", "p50" | "p95" | "mean") => {
            found(&rest.split('.').collect::<Vec<_>>(), Unit::Seconds)
        }
        ("outage", figure) => match lookup(&outage, figure) {
            Some(unit) => found(&["outage", figure], unit),
            None => expected(
                "faults.<name>.outage",
                names(&outage).chain(["p50", "p95", "mean"]),
            ),
        },
        ("failed_failovers", figure) => match lookup(&failed, figure) {
            Some(unit) => found(&["failed_failovers", figure], unit),
            None => expected("faults.<name>.failed_failovers", names(&failed)),
        },
        ("lost", "") => found(&["lost"], Unit::Seconds),
        _ => match lookup(&own, rest) {
            Some(unit) => found(&[rest], unit),
            None => expected(
                "faults.<name>",
                names(&own).chain(["outage", "lost", "failed_failovers"]),
            ),
        },
    }
}

fn parse_annual(rest: &str) -> Parsed {
    let (head, figure) = rest.split_once('.').unwrap_or((rest, ""));
    let own = match head {
        "expected" if figure.is_empty() => return found(&[head], Unit::Seconds),
        "expected" => units::<ExpectedYear>(),
        "year" => units::<Year>(),
        _ => return expected("", ["expected", "year"]),
    };
    match lookup(&own, figure) {
        Some(unit) => found(&[head, figure], unit),
        None => expected(head, names(&own)),
    }
}

/// A path below a name.
fn below(name: &str, parsed: Parsed) -> Parsed {
    match parsed {
        Ok((mut segments, unit)) => {
            segments.insert(0, name.to_owned());
            Ok((segments, unit))
        }
        Err((prefix, expected)) if prefix.is_empty() => Err((name.to_owned(), expected)),
        Err((prefix, expected)) => Err((format!("{name}.{prefix}"), expected)),
    }
}

fn parse_outcome(rest: &str) -> Parsed {
    let is_status = |text: &str| text.len() == 3 && text.bytes().all(|b| b.is_ascii_digit());
    let outcomes = units::<Outcomes>();
    match rest.strip_prefix("answered.") {
        Some(status) if is_status(status) => found(&["outcomes", "answered", status], Unit::Count),
        None if lookup(&outcomes, rest).is_some() => found(&["outcomes", rest], Unit::Count),
        _ => expected("outcomes", names(&outcomes).chain(["answered.<status>"])),
    }
}

fn parse_reason(rest: &str) -> Parsed {
    if let Some(reason) = Reason::of_path(rest) {
        let path = ["reasons", reason.class().name(), reason.name()];
        return found(&path, Unit::Count);
    }
    let all = Reason::ALL.iter().copied();
    let outcome = rest.split_once('.').map_or(rest, |(outcome, _)| outcome);
    let of_outcome: Vec<&str> = all
        .clone()
        .filter(|reason| reason.class().name() == outcome)
        .map(Reason::name)
        .collect();
    if of_outcome.is_empty() {
        let outcomes: BTreeSet<&str> = all.map(|reason| reason.class().name()).collect();
        return expected("reasons", outcomes);
    }
    expected(&format!("reasons.{outcome}"), of_outcome)
}

fn parse_figure(time: &str, figure: &str) -> Parsed {
    let units = units::<TimeStatistics>();
    match lookup(&units, figure) {
        Some(unit) => found(&[time, figure], unit),
        None if percentile(figure).is_some() => found(&[time, figure], Unit::Seconds),
        None => expected(time, names(&units)),
    }
}

/// The figure that stands for a percentile of which nobody has judged whether it can be relied on: the next above it that is judged.
pub(super) fn known_above(figure: &str) -> Option<&'static str> {
    let is_judged = lookup(&units::<TimeStatistics>(), figure).is_some();
    let share = percentile(figure).filter(|_| !is_judged)?;
    let judged = Statistic::ALL.into_iter();
    let above = |one: &Statistic| one.share().is_some_and(|own| own >= share);
    Some(
        judged
            .into_iter()
            .find(above)
            .map_or("max", Statistic::name),
    )
}

/// The share of a percentile by its name, exclusive of 0 and 1: the first two digits are per cent, what follows are decimals of these.
pub(super) fn percentile(figure: &str) -> Option<f64> {
    let digits = figure.strip_prefix('p')?;
    let is_one =
        (1..=MOST_DIGITS).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    let per_cent = match digits.split_at_checked(2) {
        Some((whole, decimals)) => format!("{whole}.{decimals}"),
        None => digits.to_owned(),
    };
    let share = per_cent.parse::<f64>().ok()? / 100.0;
    (is_one && share > 0.0 && share < 1.0).then_some(share)
}

/// Parses `<name>.<tail>` where the name may itself contain dots (`GET /a.json`): the shortest name with a valid tail wins.
fn parse_named(head: &str, rest: &str, parse_tail: impl Fn(&str) -> Parsed) -> Parsed {
    let splits = rest
        .match_indices('.')
        .map(|(at, _)| (&rest[..at], &rest[at + 1..]));
    for (name, tail) in splits.filter(|(name, _)| !name.is_empty()) {
        if let Ok((segments, unit)) = parse_tail(tail) {
            let mut all = vec![head.to_owned(), name.to_owned()];
            all.extend(segments);
            return Ok((all, unit));
        }
    }
    parse_tail("")
}

/// Advice after `prefix`: the nearest of the names that may stand there, or all of them.
pub(super) fn instead(path: &str, prefix: &str, expected: &[String]) -> String {
    let written = match path.strip_prefix(prefix) {
        Some(rest) => rest.trim_start_matches('.').split('.').next(),
        // The prefix holds a placeholder for a name, which may hold dots.
        None => path.rsplit('.').next(),
    };
    match written.and_then(|written| nearest(written, expected)) {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("write one of {}", expected.join(", ")),
    }
}

fn lookup(table: &[(&str, Unit)], name: &str) -> Option<Unit> {
    table
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, unit)| *unit)
}

fn found(segments: &[&str], unit: Unit) -> Parsed {
    Ok((segments.iter().map(|s| (*s).to_owned()).collect(), unit))
}

fn expected<'a>(prefix: &str, names: impl IntoIterator<Item = &'a str>) -> Parsed {
    Err((
        prefix.to_owned(),
        names.into_iter().map(str::to_owned).collect(),
    ))
}
