//! Metrics: paths below `arms.<arm>` of `summary.json`, and the unit of what stands there.

use std::fmt;

use plimsoll_base::document::{list, nearest};
use plimsoll_base::units::{self, Rate};
use plimsoll_report::record::Statistic;

/// A path below `arms.<arm>` of `summary.json` that leads to a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    path: String,
    unit: Unit,
}

/// What a metric counts in; the summary holds seconds, events per second, fractions, cores and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Written `1ms`.
    Seconds,
    /// Written `4900/s`.
    PerSecond,
    /// Written `0.1%`.
    Share,
    /// Written `10`.
    Count,
    /// Written `0.5`.
    Cores,
    /// Written `64MiB`.
    Bytes,
}

/// The names that metric paths may contain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names<'a> {
    /// Steps of the arm.
    pub steps: &'a [String],
    /// Components, without external ones, and the generator.
    pub components: &'a [String],
}

const TIMES: [&str; 6] = [
    "response_time",
    "service_time",
    "iteration_time",
    "connection_wait",
    "pacing_lag",
    "connect_time",
];
const STEP_TIMES: &[&str] = &["response_time", "service_time"];
const OUTCOMES: [&str; 6] = [
    "timed_out",
    "refused",
    "reset",
    "tls_failed",
    "malformed",
    "aborted",
];
const COMPONENT: [(&str, Unit); 6] = [
    ("cpu_cores_mean", Unit::Cores),
    ("cpu_cores_max", Unit::Cores),
    ("busiest_thread_cores_max", Unit::Cores),
    ("rss_bytes_max", Unit::Bytes),
    ("fds_max", Unit::Count),
    ("threads_max", Unit::Count),
];
const ARM_FIGURES: [(&str, Unit); 8] = [
    ("offered_per_s", Unit::PerSecond),
    ("achieved_per_s", Unit::PerSecond),
    ("intended", Unit::Count),
    ("sent", Unit::Count),
    ("in_flight", Unit::Count),
    ("dropped", Unit::Count),
    ("failed", Unit::Count),
    ("failed_share", Unit::Share),
];
const STEP_FIGURES: [(&str, Unit); 7] = [
    ("achieved_per_s", Unit::PerSecond),
    ("sent", Unit::Count),
    ("in_flight", Unit::Count),
    ("failed", Unit::Count),
    ("failed_share", Unit::Share),
    ("bytes_sent", Unit::Bytes),
    ("bytes_received", Unit::Bytes),
];

impl Metric {
    /// Its path below `arms.<arm>`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What it counts in.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Whether it is a difference to the baseline.
    #[must_use]
    pub fn is_difference(&self) -> bool {
        self.path.starts_with("added.")
    }

    /// Parses a path; the error says what to write instead.
    pub(super) fn parse(path: &str, names: Names<'_>) -> Result<Self, String> {
        let unit = unit_of(path, names)
            .map_err(|instead| format!("there is no metric `{path}`: {instead}"))?;
        Ok(Self {
            path: path.to_owned(),
            unit,
        })
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

impl Unit {
    /// Parses a bound on such a metric; the result is in the summary's unit.
    ///
    /// # Errors
    /// What is wrong and what to write instead.
    pub fn parse(self, text: &str) -> Result<f64, String> {
        match self {
            Self::Seconds => units::parse_duration(text)
                .map(|duration| duration.as_secs_f64())
                .map_err(|error| error.to_string()),
            Self::PerSecond => Rate::parse(text)
                .map(Rate::as_per_second)
                .map_err(|error| error.to_string()),
            Self::Share => units::parse_share(text).map_err(|error| error.to_string()),
            Self::Bytes => units::parse_bytes(text)
                .map_err(|error| error.to_string())
                .and_then(|bytes| {
                    bytes
                        .to_string()
                        .parse()
                        .map_err(|_| format!("`{text}` is too large"))
                }),
            Self::Count | Self::Cores => {
                let number: Option<f64> = text
                    .parse()
                    .ok()
                    .filter(|number: &f64| number.is_finite() && *number >= 0.0);
                let example = if self == Self::Count { "10" } else { "0.5" };
                number.ok_or_else(|| {
                    format!("`{text}` is not a number: write for instance `{example}`")
                })
            }
        }
    }
}

/// The unit at `path`; the error is what to write instead.
fn unit_of(path: &str, names: Names<'_>) -> Result<Unit, String> {
    let (head, rest) = path
        .split_once('.')
        .map_or((path, None), |(head, rest)| (head, Some(rest)));
    let rest = rest.unwrap_or_default();
    match head {
        "by_step" => {
            let inner =
                below(rest, names.steps).ok_or_else(|| below_names("by_step", names.steps))?;
            figure(inner, &STEP_FIGURES, STEP_TIMES).map_err(|known| instead(path, inner, &known))
        }
        "components" => {
            let inner = below(rest, names.components)
                .ok_or_else(|| below_names("components", names.components))?;
            named(inner, &COMPONENT).map_err(|known| instead(path, inner, &known))
        }
        "added" => {
            let known = words(Statistic::ALL.map(Statistic::name));
            if known.iter().any(|word| word == rest) {
                Ok(Unit::Seconds)
            } else {
                Err(instead(path, rest, &known))
            }
        }
        _ => figure(path, &ARM_FIGURES, &TIMES).map_err(|mut known| {
            known.extend(words(["added.p99", "by_step.…", "components.…"]));
            instead(path, path, &known)
        }),
    }
}

/// A figure of an arm or a step; the error is the words that could stand there.
fn figure(path: &str, figures: &[(&str, Unit)], times: &[&str]) -> Result<Unit, Vec<String>> {
    let (head, rest) = path
        .split_once('.')
        .map_or((path, None), |(head, rest)| (head, Some(rest)));
    match (head, rest) {
        (time, rest) if times.contains(&time) => {
            let statistics = words(["count", "min", "max"])
                .into_iter()
                .chain(words(Statistic::ALL.map(Statistic::name)));
            match rest {
                Some("count") => Ok(Unit::Count),
                Some(statistic) if statistics.clone().any(|word| word == statistic) => {
                    Ok(Unit::Seconds)
                }
                _ => Err(statistics
                    .map(|statistic| format!("{time}.{statistic}"))
                    .collect()),
            }
        }
        ("outcomes", rest) => {
            let outcome = rest.unwrap_or_default();
            let status = outcome
                .strip_prefix("answered.")
                .and_then(|status| status.parse::<u16>().ok());
            if OUTCOMES.contains(&outcome)
                || status.is_some_and(|status| (100..=599).contains(&status))
            {
                return Ok(Unit::Count);
            }
            let known = OUTCOMES.iter().copied().chain(["answered.200"]);
            Err(known.map(|outcome| format!("outcomes.{outcome}")).collect())
        }
        ("checks", rest) => match rest {
            Some("status.passed" | "status.failed") => Ok(Unit::Count),
            _ => Err(words(["checks.status.passed", "checks.status.failed"])),
        },
        _ => named(path, figures).map_err(|mut known| {
            known.extend(times.iter().map(|time| format!("{time}.p99")));
            known.extend(words(["outcomes.timed_out", "checks.status.failed"]));
            known
        }),
    }
}

fn named(word: &str, figures: &[(&str, Unit)]) -> Result<Unit, Vec<String>> {
    let found = figures.iter().find(|(name, _)| *name == word);
    found
        .map(|(_, unit)| *unit)
        .ok_or_else(|| figures.iter().map(|(name, _)| (*name).to_owned()).collect())
}

/// What follows the longest of `names` and a dot. Names of steps may hold dots themselves.
fn below<'p>(path: &'p str, names: &[String]) -> Option<&'p str> {
    let followed = names
        .iter()
        .filter_map(|name| path.strip_prefix(name.as_str())?.strip_prefix('.'));
    followed.min_by_key(|rest| rest.len())
}

fn below_names(head: &str, names: &[String]) -> String {
    let known: Vec<String> = names
        .iter()
        .map(|name| format!("`{head}.{name}.…`"))
        .collect();
    format!("write {}", known.join(" or "))
}

/// What to write instead of `path`, of which `inner`, its end, is wrong: the words that begin like it, else one that is close,
/// else all.
fn instead(path: &str, inner: &str, known: &[String]) -> String {
    let start = path.strip_suffix(inner).unwrap_or(path);
    let dot = if start.is_empty() || start.ends_with('.') {
        ""
    } else {
        "."
    };
    let whole = |words: &[String]| {
        words
            .iter()
            .map(|word| format!("{start}{dot}{word}"))
            .collect::<Vec<_>>()
    };
    let longer: Vec<String> = known
        .iter()
        .filter(|word| !inner.is_empty() && word.starts_with(inner))
        .cloned()
        .collect();
    match nearest(inner, known) {
        _ if !longer.is_empty() => format!("write {}", list(&whole(&longer))),
        Some(word) => format!("did you mean `{start}{dot}{word}`?"),
        None => format!("write {}", list(&whole(known))),
    }
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(path: &str) -> Result<Unit, String> {
        let steps = words(["GET /a.json", "GET /a.json.x", "login"]);
        let components = words(["upstream", "generator"]);
        Metric::parse(
            path,
            Names {
                steps: &steps,
                components: &components,
            },
        )
        .map(|metric| metric.unit())
    }

    #[test]
    fn metrics_of_the_summary_have_units() {
        for (path, unit) in [
            ("achieved_per_s", Unit::PerSecond),
            ("failed", Unit::Count),
            ("failed_share", Unit::Share),
            ("response_time.p99", Unit::Seconds),
            ("pacing_lag.count", Unit::Count),
            ("added.p999", Unit::Seconds),
            ("outcomes.timed_out", Unit::Count),
            ("outcomes.answered.503", Unit::Count),
            ("checks.status.failed", Unit::Count),
            ("by_step.login.response_time.p50", Unit::Seconds),
            ("by_step.GET /a.json.x.failed", Unit::Count),
            ("by_step.GET /a.json.bytes_received", Unit::Bytes),
            ("components.upstream.cpu_cores_mean", Unit::Cores),
            ("components.generator.rss_bytes_max", Unit::Bytes),
        ] {
            assert_eq!(parse(path), Ok(unit), "{path}");
        }
    }

    #[test]
    fn others_are_refused_with_what_to_write() {
        let refused = [
            "p99",
            "response_time",
            "response_time.p98",
            "respone_time.p99",
            "latency.p99",
            "added",
            "added.max",
            "failed_shares",
            "outcomes.timedout",
            "outcomes.answered.99",
            "by_step.logout.failed",
            "by_step.login.iteration_time.p50",
            "components.upstream.cpu",
            "components.db.cpu_cores_mean",
            "checks.body.failed",
        ]
        .map(|path| parse(path).unwrap_err());
        insta::assert_snapshot!(refused.join("\n"), @r"
        there is no metric `p99`: write `offered_per_s`, `achieved_per_s`, `intended`, `sent`, `in_flight`, `dropped`, `failed`, `failed_share`, `response_time.p99`, `service_time.p99`, `iteration_time.p99`, `connection_wait.p99`, `pacing_lag.p99`, `connect_time.p99`, `outcomes.timed_out`, `checks.status.failed`, `added.p99`, `by_step.…` or `components.…`
        there is no metric `response_time`: write `response_time.count`, `response_time.min`, `response_time.max`, `response_time.mean`, `response_time.p50`, `response_time.p75`, `response_time.p90`, `response_time.p95`, `response_time.p99` or `response_time.p999`
        there is no metric `response_time.p98`: did you mean `response_time.p90`?
        there is no metric `respone_time.p99`: did you mean `response_time.p99`?
        there is no metric `latency.p99`: write `offered_per_s`, `achieved_per_s`, `intended`, `sent`, `in_flight`, `dropped`, `failed`, `failed_share`, `response_time.p99`, `service_time.p99`, `iteration_time.p99`, `connection_wait.p99`, `pacing_lag.p99`, `connect_time.p99`, `outcomes.timed_out`, `checks.status.failed`, `added.p99`, `by_step.…` or `components.…`
        there is no metric `added`: write `added.mean`, `added.p50`, `added.p75`, `added.p90`, `added.p95`, `added.p99` or `added.p999`
        there is no metric `added.max`: did you mean `added.mean`?
        there is no metric `failed_shares`: did you mean `failed_share`?
        there is no metric `outcomes.timedout`: did you mean `outcomes.timed_out`?
        there is no metric `outcomes.answered.99`: did you mean `outcomes.answered.200`?
        there is no metric `by_step.logout.failed`: write `by_step.GET /a.json.…` or `by_step.GET /a.json.x.…` or `by_step.login.…`
        there is no metric `by_step.login.iteration_time.p50`: write `by_step.login.achieved_per_s`, `by_step.login.sent`, `by_step.login.in_flight`, `by_step.login.failed`, `by_step.login.failed_share`, `by_step.login.bytes_sent`, `by_step.login.bytes_received`, `by_step.login.response_time.p99`, `by_step.login.service_time.p99`, `by_step.login.outcomes.timed_out` or `by_step.login.checks.status.failed`
        there is no metric `components.upstream.cpu`: write `components.upstream.cpu_cores_mean` or `components.upstream.cpu_cores_max`
        there is no metric `components.db.cpu_cores_mean`: write `components.upstream.…` or `components.generator.…`
        there is no metric `checks.body.failed`: did you mean `checks.status.failed`?
        ");
    }

    #[test]
    fn bounds_are_written_in_the_metrics_own_unit() {
        assert_eq!(Unit::Seconds.parse("1ms"), Ok(0.001));
        assert_eq!(Unit::PerSecond.parse("60/min"), Ok(1.0));
        assert_eq!(Unit::Share.parse("0.1%"), Ok(0.001));
        assert_eq!(Unit::Bytes.parse("1KiB"), Ok(1024.0));
        assert_eq!(Unit::Count.parse("0"), Ok(0.0));
        for (unit, bad) in [
            (Unit::Seconds, "1"),
            (Unit::PerSecond, "5"),
            (Unit::Count, "1ms"),
            (Unit::Cores, "-1"),
            (Unit::Count, "NaN"),
        ] {
            assert!(unit.parse(bad).is_err(), "{bad}");
        }
    }
}
