//! Metrics by path below `arms.<arm>` of the summary: which there are, their unit, and reading one.

use crate::record::{ArmSummary, Statistic};
use plimsoll_base::document::nearest;
use plimsoll_base::reason::Reason;
use plimsoll_base::time_kind::TimeKind;
use serde_json::Value;
use std::collections::BTreeSet;

const SCALARS: [(&str, Unit); 12] = [
    ("seconds", Unit::Seconds),
    ("offered_per_s", Unit::PerSecond),
    ("achieved_per_s", Unit::PerSecond),
    ("good_per_s", Unit::PerSecond),
    ("intended", Unit::Count),
    ("sent", Unit::Count),
    ("in_flight", Unit::Count),
    ("dropped", Unit::Count),
    ("connected", Unit::Count),
    ("reconnected", Unit::Count),
    ("failed", Unit::Count),
    ("failed_share", Unit::Share),
];
const STEP_SCALARS: [(&str, Unit); 8] = [
    ("sent", Unit::Count),
    ("in_flight", Unit::Count),
    ("failed", Unit::Count),
    ("failed_share", Unit::Share),
    ("achieved_per_s", Unit::PerSecond),
    ("good_per_s", Unit::PerSecond),
    ("bytes_sent", Unit::Bytes),
    ("bytes_received", Unit::Bytes),
];
const COMPONENT_FIELDS: [(&str, Unit); 25] = [
    ("cpu_cores_mean", Unit::Cores),
    ("cpu_cores_max", Unit::Cores),
    ("busiest_thread_cores_max", Unit::Cores),
    ("rss_bytes_max", Unit::Bytes),
    ("fds_max", Unit::Count),
    ("threads_max", Unit::Count),
    ("cpu_limit_cores", Unit::Cores),
    ("cpu_quota_cores", Unit::Cores),
    ("cpus_busy_share", Unit::Share),
    ("busiest_process_cores", Unit::Cores),
    ("busiest_thread_ready", Unit::Share),
    ("throttled_share", Unit::Share),
    ("major_faults", Unit::Count),
    ("memory_share", Unit::Share),
    ("cpu_pressure", Unit::Share),
    ("memory_pressure", Unit::Share),
    ("io_pressure", Unit::Share),
    ("fds_share", Unit::Share),
    ("accept_queue", Unit::Count),
    ("listen_overflows", Unit::Count),
    ("segments_sent", Unit::Count),
    ("segments_again", Unit::Count),
    ("ports_share", Unit::Share),
    ("conntrack_share", Unit::Share),
    ("conntrack_drops", Unit::Count),
];
/// What a server says of itself, below `server`.
const SERVER_FIELDS: [(&str, Unit); 22] = [
    ("connections", Unit::Count),
    ("connections_limit", Unit::Count),
    ("connections_share", Unit::Share),
    ("connections_rejected", Unit::Count),
    ("active", Unit::Count),
    ("idle_in_transaction", Unit::Count),
    ("lock_waiters", Unit::Count),
    ("latch_waiters", Unit::Count),
    ("io_waiters", Unit::Count),
    ("blocked_clients", Unit::Count),
    ("main_thread_cores", Unit::Cores),
    ("loop_s", Unit::Seconds),
    ("data_memory_share", Unit::Share),
    ("operations", Unit::Count),
    ("rollbacks", Unit::Count),
    ("deadlocks", Unit::Count),
    ("hits", Unit::Count),
    ("misses", Unit::Count),
    ("temporary_bytes", Unit::Bytes),
    ("checkpoints_timed", Unit::Count),
    ("checkpoints_requested", Unit::Count),
    ("evicted_keys", Unit::Count),
];
const TIMES: [&str; 12] = [
    "response_time",
    "failed_time",
    "service_time",
    "iteration_time",
    "connection_wait",
    "pacing_lag",
    "connect_time",
    "dns_time",
    "tcp_time",
    "tls_time",
    "first_byte_time",
    "body_time",
];
const STEP_TIMES: [&str; 5] = [
    "response_time",
    "failed_time",
    "service_time",
    "first_byte_time",
    "body_time",
];
const GROUP_SCALARS: [(&str, Unit); 4] = [
    ("count", Unit::Count),
    ("failed", Unit::Count),
    ("failed_share", Unit::Share),
    ("achieved_per_s", Unit::PerSecond),
];
const GROUP_TIMES: [&str; 2] = ["duration", "cumulated_response_time"];
/// What a group's times are made of: whatever reaches these may reach those.
const OF_GROUP_TIMES: [&str; 2] = ["response_time", "iteration_time"];
const FIGURES: [&str; 11] = [
    "count",
    "min",
    "mean",
    "deviation",
    "p50",
    "p75",
    "p90",
    "p95",
    "p99",
    "p999",
    "max",
];
/// Digits of a percentile: one of more would take a million times.
const MOST_DIGITS: usize = 6;
const OUTCOMES: [&str; 9] = [
    "timed_out",
    "unfinished",
    "refused",
    "exhausted",
    "closed",
    "reset",
    "tls_failed",
    "malformed",
    "aborted",
];

/// Of one level of `levels`.
const LEVEL_SCALARS: [(&str, Unit); 10] = [
    ("seconds", Unit::Seconds),
    ("offered_per_s", Unit::PerSecond),
    ("achieved_per_s", Unit::PerSecond),
    ("good_per_s", Unit::PerSecond),
    ("intended", Unit::Count),
    ("sent", Unit::Count),
    ("in_flight", Unit::Count),
    ("dropped", Unit::Count),
    ("failed", Unit::Count),
    ("failed_share", Unit::Share),
];
const LEVEL_TIMES: [&str; 4] = ["response_time", "failed_time", "service_time", "pacing_lag"];
/// The bounds of a search.
const BOUNDS: [&str; 2] = ["lower_per_s", "upper_per_s"];

/// Metrics without a value while a load runs.
const NOT_LIVE: [&str; 8] = [
    "added",
    "capacity",
    "components",
    "in_flight",
    "intended",
    "levels",
    "offered_per_s",
    "seconds",
];

/// What a metric counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Times.
    Seconds,
    /// Rates.
    PerSecond,
    /// Whole numbers of things.
    Count,
    /// Fractions of one.
    Share,
    /// Sizes.
    Bytes,
    /// Processors.
    Cores,
}

/// A path that is known to lead to a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    segments: Vec<String>,
    unit: Unit,
}

/// A path that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is not a metric: after `{prefix}` {instead}")]
pub struct UnknownMetric {
    path: String,
    prefix: String,
    instead: String,
}

/// What a metric was in one run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Reading {
    /// The value; `None` without a sample.
    pub value: Option<f64>,
    /// The ends of its interval, for a quantity with one.
    pub interval: Option<(f64, f64)>,
    /// What a percentile of times rests on.
    pub percentile: Option<Percentile>,
}

/// What a percentile of times rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentile {
    /// Its share, 0 to 1.
    pub share: f64,
    /// Times, and of response times lower bounds and what was never answered.
    pub count: u64,
    /// Whether it rests on what was given up, so that it is a lower bound.
    pub is_at_least: bool,
    /// What it is at least, with 95 % confidence; `None`: too few times.
    pub low: Option<f64>,
    /// What it is at most, with 95 % confidence; `None`: too few times, or nobody knows.
    pub high: Option<f64>,
    /// The share of what was due that got no good answer and never will: it failed, or was dropped.
    pub without_answer: f64,
}

impl Reading {
    /// A value without an interval.
    #[must_use]
    pub fn exact(value: Option<f64>) -> Self {
        Self {
            value,
            ..Self::default()
        }
    }
}

impl Metric {
    /// Reads a path such as `response_time.p99`, `added.p99`, `by_step.GET /a.failed` or `components.gateway.cpu_cores_max`.
    /// Whether the named step, check or component exists is left to the caller: an absent one reads as no sample.
    ///
    /// # Errors
    /// [`UnknownMetric`] with what may stand there instead.
    pub fn parse(path: &str) -> Result<Self, UnknownMetric> {
        let (segments, unit) = parse_arm(path).map_err(|(prefix, expected)| UnknownMetric {
            path: path.to_owned(),
            instead: instead(path, &prefix, &expected),
            prefix: if prefix.is_empty() {
                "arms.<arm>".to_owned()
            } else {
                prefix
            },
        })?;
        Ok(Self { segments, unit })
    }

    /// The step that it is of; `None` for the whole arm.
    #[must_use]
    pub fn step(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [head, name, ..] if head == "by_step" => Some(name),
            _ => None,
        }
    }

    /// The check that it counts.
    #[must_use]
    pub fn check(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [.., head, name, _] if head == "checks" => Some(name),
            _ => None,
        }
    }

    /// The group of steps that it is of.
    #[must_use]
    pub fn group(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [head, name, ..] if head == "by_group" => Some(name),
            _ => None,
        }
    }

    /// The level of `levels` that it is of.
    #[must_use]
    pub fn level(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [head, name, ..] if head == "levels" => Some(name),
            _ => None,
        }
    }

    /// The kind of time that it is a figure of; `None` for a count, a rate or a share.
    #[must_use]
    pub fn time_kind(&self) -> Option<TimeKind> {
        let name = self.segments.iter().rev().nth(1)?;
        TimeKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The share of the percentile of times that it is, of those that an arm measured itself; `None` for a difference and anything else.
    #[must_use]
    pub fn percentile(&self) -> Option<f64> {
        let is_time = self.unit == Unit::Seconds && self.segments[0] != "added";
        is_time.then(|| percentile(self.segments.last()?)).flatten()
    }

    /// The share of those that it counts which failed, of the arm, a step, a group or a level.
    #[must_use]
    pub fn is_failed_share(&self) -> bool {
        self.segments
            .last()
            .is_some_and(|last| last == "failed_share")
    }

    /// Whether it has a value while a load runs that means what it means at the end: counts, rates, shares and times of exchanges
    /// and iterations. Differences, resources and what the plan says beforehand have none.
    #[must_use]
    pub fn is_live(&self) -> bool {
        let own = match self.segments.as_slice() {
            [head, _, rest @ ..] if head == "by_step" || head == "by_group" => rest,
            all => all,
        };
        let head = own.first().map_or("", String::as_str);
        !NOT_LIVE.contains(&head)
    }

    /// What it counts in.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The path as the summary writes it.
    #[must_use]
    pub fn path(&self) -> String {
        self.segments.join(".")
    }

    /// Whether a path prefix (such as `added` or `response_time.p99`) covers this metric; a step's times count as the arm's, and those of
    /// a group as response and as iteration times.
    #[must_use]
    pub fn is_below(&self, prefix: &str) -> bool {
        let (own, of_group) = match self.segments.first().map(String::as_str) {
            Some("by_step" | "levels") => (&self.segments[2..], false),
            Some("by_group") => (&self.segments[2..], true),
            _ => (&self.segments[..], false),
        };
        let covers = |own: &str, part: &str| {
            let as_time = of_group && GROUP_TIMES.contains(&own) && OF_GROUP_TIMES.contains(&part);
            own == part || as_time || known_above(own) == Some(part)
        };
        prefix
            .split('.')
            .enumerate()
            .all(|(i, part)| own.get(i).is_some_and(|own| covers(own, part)))
    }

    /// Its value in one arm's summary; of a percentile that the summary does not hold, none.
    #[must_use]
    pub fn read(&self, arm: &ArmSummary) -> Reading {
        if self.segments == ["capacity"] {
            return capacity(arm);
        }
        let tree =
            serde_json::to_value(arm).expect("invariant: a summary is representable as JSON");
        let mut parent = &tree;
        let found = self.segments.iter().try_fold(&tree, |node, segment| {
            parent = node;
            match node {
                Value::Array(named) => named.iter().find(|one| one["name"] == **segment),
                node => node.get(segment),
            }
        });
        // A status that never came was answered zero times, and what never happened had no reason.
        let mut above = self.segments.iter().rev();
        let is_status = above.nth(1).is_some_and(|s| s == "answered");
        let is_reason = above.next().is_some_and(|s| s == "reasons");
        match found {
            Some(Value::Object(fields)) => Reading {
                value: fields.get("value").and_then(Value::as_f64),
                interval: fields
                    .get("low")
                    .and_then(Value::as_f64)
                    .zip(fields.get("high").and_then(Value::as_f64)),
                percentile: None,
            },
            Some(number) => Reading::exact(number.as_f64()),
            None if (is_status || is_reason) && parent.is_object() => Reading::exact(Some(0.0)),
            None => Reading::default(),
        }
    }
}

/// The capacity as a quantity with an interval. One whose upper end was not found has none.
fn capacity(arm: &ArmSummary) -> Reading {
    let Some(found) = &arm.capacity else {
        return Reading::default();
    };
    let upper = found.upper_per_s.unwrap_or(f64::INFINITY);
    Reading {
        value: found.lower_per_s,
        interval: found.lower_per_s.map(|lower| (lower, upper)),
        percentile: None,
    }
}

type Parsed = Result<(Vec<String>, Unit), (String, Vec<String>)>;

fn parse_arm(path: &str) -> Parsed {
    if let Some(unit) = lookup(&SCALARS, path) {
        return found(&[path], unit);
    }
    if path == "capacity" {
        return found(&[path], Unit::PerSecond);
    }
    let (head, rest) = path.split_once('.').unwrap_or((path, ""));
    match head {
        "added" => parse_added(rest),
        "levels" => parse_named(head, rest, |tail| parse_part(&LEVEL, tail)),
        "capacity" if BOUNDS.contains(&rest) => found(&[head, rest], Unit::PerSecond),
        "capacity" => expected("capacity", BOUNDS),
        "by_step" => parse_named(head, rest, |tail| parse_part(&STEP, tail)),
        "by_group" => parse_named(head, rest, |tail| parse_part(&GROUP, tail)),
        "checks" => parse_check(rest),
        "components" => parse_named(head, rest, parse_component),
        "outcomes" => parse_outcome(rest),
        "reasons" => parse_reason(rest),
        time if TIMES.contains(&time) => parse_figure(time, rest),
        _ => expected(
            "",
            SCALARS.iter().map(|(name, _)| *name).chain(TIMES).chain([
                "added",
                "outcomes",
                "reasons",
                "by_step",
                "by_group",
                "checks",
                "components",
                "levels",
                "capacity",
            ]),
        ),
    }
}

type Parse = fn(&str) -> Parsed;

/// What a part of an arm has: scalars, times, and more below names of their own.
struct Part {
    prefix: &'static str,
    scalars: &'static [(&'static str, Unit)],
    times: &'static [&'static str],
    more: &'static [(&'static str, Parse)],
}

const STEP: Part = Part {
    prefix: "by_step.<name>",
    scalars: &STEP_SCALARS,
    times: &STEP_TIMES,
    more: &[
        ("outcomes", parse_outcome),
        ("reasons", parse_reason),
        ("checks", parse_check),
    ],
};

const LEVEL: Part = Part {
    prefix: "levels.<name>",
    scalars: &LEVEL_SCALARS,
    times: &LEVEL_TIMES,
    more: &[
        ("outcomes", parse_outcome),
        ("components", |rest| {
            parse_named("components", rest, parse_component)
        }),
    ],
};

const GROUP: Part = Part {
    prefix: "by_group.<name>",
    scalars: &GROUP_SCALARS,
    times: &GROUP_TIMES,
    more: &[],
};

fn parse_part(part: &Part, path: &str) -> Parsed {
    if let Some(unit) = lookup(part.scalars, path) {
        return found(&[path], unit);
    }
    let (head, rest) = path.split_once('.').unwrap_or((path, ""));
    if part.times.contains(&head) {
        return parse_figure(head, rest);
    }
    match part.more.iter().find(|(name, _)| *name == head) {
        Some((_, parse)) => parse(rest),
        None => {
            let scalars = part.scalars.iter().map(|(name, _)| *name);
            let more = part.more.iter().map(|(name, _)| *name);
            expected(
                part.prefix,
                scalars.chain(part.times.iter().copied()).chain(more),
            )
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
        && let Some(unit) = lookup(&SERVER_FIELDS, field)
    {
        return found(&["server", field], unit);
    }
    let names = COMPONENT_FIELDS.map(|(name, _)| name);
    lookup(&COMPONENT_FIELDS, tail).map_or_else(
        || {
            expected(
                "components.<name>",
                names.into_iter().chain(["server.<field>"]),
            )
        },
        |unit| found(&[tail], unit),
    )
}

fn parse_added(rest: &str) -> Parsed {
    let (statistic, end) = rest.split_once('.').unwrap_or((rest, ""));
    if !Statistic::ALL.iter().any(|s| s.name() == statistic) {
        return expected("added", Statistic::ALL.map(Statistic::name));
    }
    match end {
        "" => found(&["added", statistic], Unit::Seconds),
        "value" | "low" | "high" => found(&["added", statistic, end], Unit::Seconds),
        _ => expected("added.<percentile>", ["value", "low", "high"]),
    }
}

fn parse_outcome(rest: &str) -> Parsed {
    let is_status = |text: &str| text.len() == 3 && text.bytes().all(|b| b.is_ascii_digit());
    match rest.strip_prefix("answered.") {
        Some(status) if is_status(status) => found(&["outcomes", "answered", status], Unit::Count),
        None if OUTCOMES.contains(&rest) => found(&["outcomes", rest], Unit::Count),
        _ => expected(
            "outcomes",
            OUTCOMES.into_iter().chain(["answered.<status>"]),
        ),
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
    match figure {
        "count" => found(&[time, figure], Unit::Count),
        _ if FIGURES.contains(&figure) || percentile(figure).is_some() => {
            found(&[time, figure], Unit::Seconds)
        }
        _ => expected(time, FIGURES),
    }
}

/// The figure that stands for a percentile of which nobody has judged whether it can be relied on: the next above it that is judged.
fn known_above(figure: &str) -> Option<&'static str> {
    let share = percentile(figure).filter(|_| !FIGURES.contains(&figure))?;
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
fn percentile(figure: &str) -> Option<f64> {
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

/// What to write after `prefix`: the nearest of what may stand there, or all of it.
fn instead(path: &str, prefix: &str, expected: &[String]) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds what a path is taken for.
    fn check(path: &str, segments: &[&str], unit: Unit) {
        let metric = Metric::parse(path).unwrap();
        let found: Vec<&str> = metric.segments.iter().map(String::as_str).collect();
        assert_eq!((found, metric.unit()), (segments.to_vec(), unit));
    }

    #[test]
    fn checks_of_steps() {
        check(
            "by_step.GET /a.json.checks.jsonpath $.id.failed",
            &[
                "by_step",
                "GET /a.json",
                "checks",
                "jsonpath $.id",
                "failed",
            ],
            Unit::Count,
        );
        let metric = Metric::parse("by_step.a.checks.header X.Y.passed").unwrap();
        assert_eq!(
            (metric.step(), metric.check()),
            (Some("a"), Some("header X.Y"))
        );
        assert_eq!(Metric::parse("failed").unwrap().check(), None);
    }

    #[test]
    fn paths() {
        check("achieved_per_s", &["achieved_per_s"], Unit::PerSecond);
        check(
            "response_time.p999",
            &["response_time", "p999"],
            Unit::Seconds,
        );
        check("tls_time.p99", &["tls_time", "p99"], Unit::Seconds);
        check(
            "by_step.a.first_byte_time.p99",
            &["by_step", "a", "first_byte_time", "p99"],
            Unit::Seconds,
        );
        check("added.p99", &["added", "p99"], Unit::Seconds);
        check("added.mean.high", &["added", "mean", "high"], Unit::Seconds);
        check(
            "outcomes.answered.503",
            &["outcomes", "answered", "503"],
            Unit::Count,
        );
        check(
            "checks.status.failed",
            &["checks", "status", "failed"],
            Unit::Count,
        );
        check(
            "by_step.GET /a.json.response_time.p50",
            &["by_step", "GET /a.json", "response_time", "p50"],
            Unit::Seconds,
        );
        check(
            "by_group.buy/pay.duration.p95",
            &["by_group", "buy/pay", "duration", "p95"],
            Unit::Seconds,
        );
        check(
            "by_group.buy.failed_share",
            &["by_group", "buy", "failed_share"],
            Unit::Share,
        );
        check(
            "levels.12.5/s.response_time.p99",
            &["levels", "12.5/s", "response_time", "p99"],
            Unit::Seconds,
        );
        check(
            "levels.20 users.components.full.cpu_cores_max",
            &["levels", "20 users", "components", "full", "cpu_cores_max"],
            Unit::Cores,
        );
        check("capacity", &["capacity"], Unit::PerSecond);
        check(
            "capacity.lower_per_s",
            &["capacity", "lower_per_s"],
            Unit::PerSecond,
        );
        check(
            "components.db.server.lock_waiters",
            &["components", "db", "server", "lock_waiters"],
            Unit::Count,
        );
        check(
            "components.full.rss_bytes_max",
            &["components", "full", "rss_bytes_max"],
            Unit::Bytes,
        );
    }

    #[test]
    fn refusals_name_what_may_stand_there() {
        let check = |path: &str, expected: &str| {
            assert_eq!(Metric::parse(path).unwrap_err().to_string(), expected)
        };
        check(
            "added.p98",
            "`added.p98` is not a metric: after `added` did you mean `p90`?",
        );
        check(
            "reasons.tls_failed.expird",
            "`reasons.tls_failed.expird` is not a metric: after `reasons.tls_failed` did you mean `expired`?",
        );
        check(
            "reasons.xyzzy.200",
            "`reasons.xyzzy.200` is not a metric: after `reasons` write one of closed, exhausted, malformed, refused, reset, timed_out, tls_failed, unfinished",
        );
        check(
            "added.typical",
            "`added.typical` is not a metric: after `added` write one of mean, p50, p75, p90, p95, p99, p999",
        );
        check(
            "reponse_time.p99",
            "`reponse_time.p99` is not a metric: after `arms.<arm>` did you mean `response_time`?",
        );
        check(
            "components.gateway.cpu",
            "`components.gateway.cpu` is not a metric: after `components.<name>` write one of cpu_cores_mean, cpu_cores_max, busiest_thread_cores_max, rss_bytes_max, fds_max, threads_max, cpu_limit_cores, cpu_quota_cores, cpus_busy_share, busiest_process_cores, busiest_thread_ready, throttled_share, major_faults, memory_share, cpu_pressure, memory_pressure, io_pressure, fds_share, accept_queue, listen_overflows, segments_sent, segments_again, ports_share, conntrack_share, conntrack_drops, server.<field>",
        );
        for bad in [
            "",
            "latency",
            "response_time",
            "outcomes.answered.20",
            "by_step.x",
            "by_step..sent",
            "checks.status",
        ] {
            assert!(Metric::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_a_live_metric_rests_on() {
        let check = |path: &str, live: bool, step: Option<&str>, kind: Option<TimeKind>| {
            let metric = Metric::parse(path).unwrap();
            let actual = (metric.is_live(), metric.step(), metric.time_kind());
            assert_eq!(actual, (live, step, kind), "{path}");
        };
        let response = Some(TimeKind::ResponseTime);
        check("response_time.p99", true, None, response);
        check("by_step.a.b.response_time.max", true, Some("a.b"), response);
        check("by_step.a.failed_share", true, Some("a"), None);
        check("outcomes.answered.503", true, None, None);
        check("reasons.tls_failed.expired", true, None, None);
        check("by_step.a.in_flight", false, Some("a"), None);
        check("by_group.a.duration.p95", true, None, None);
        check("by_group.a.failed_share", true, None, None);
        check("added.p99", false, None, None);
        check("levels.5/s.response_time.p99", false, None, response);
        check("capacity", false, None, None);
        check("components.a.fds_max", false, None, None);
    }

    #[test]
    fn prefixes_cover_steps_too() {
        let below = |path: &str, prefix: &str| Metric::parse(path).unwrap().is_below(prefix);
        assert!(below("response_time.p99", "response_time.p99"));
        assert!(below("added.p99.high", "added.p99"));
        assert!(below("by_step.a.response_time.p99", "response_time.p99"));
        assert!(below("levels.5/s.response_time.p99", "response_time"));
        assert!(!below("response_time.p99", "response_time.p9"));
        assert!(!below("response_time.p99", "added"));
    }
}
