//! Metrics by path below `arms.<arm>` of the summary: parsing a path, its unit, and reading it.
//!
//! Which numbers there are is declared where the records are defined ([`crate::record`]); `path` knows what may stand where, `node` leads
//! from a record to those below it.

mod node;
mod outages;
mod path;

use crate::record::{ArmSummary, Unit};
use node::Child;
use path::{known_above, percentile};
use plimsoll_base::time_kind::TimeKind;

/// Times of a group of steps.
const GROUP_TIMES: [&str; 2] = ["duration", "cumulated_response_time"];
/// The times that a group's consist of: whatever reaches these may reach those.
const OF_GROUP_TIMES: [&str; 2] = ["response_time", "iteration_time"];
/// Metrics without a value while a load runs.
const NOT_LIVE: [&str; 10] = [
    "added",
    "availability",
    "capacity",
    "components",
    "in_flight",
    "intended",
    "levels",
    "links",
    "offered_per_s",
    "seconds",
];

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

/// Value of a metric in one run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Reading {
    /// The value; `None` without a sample.
    pub value: Option<f64>,
    /// The ends of its interval, for a quantity with one.
    pub interval: Option<(f64, f64)>,
    /// Evidence of a percentile of times or of outages.
    pub percentile: Option<Percentile>,
}

/// Evidence of a percentile of times or of outages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentile {
    /// Its share, 0 to 1.
    pub share: f64,
    /// Times, and of response times lower bounds and what was never answered; or outages.
    pub count: u64,
    /// How many outages would have lasted longer than they were seen; none of times.
    pub cut_short: u64,
    /// Whether it rests on what was given up, so that it is a lower bound.
    pub is_at_least: bool,
    /// Lower bound, with 95 % confidence; `None`: too few times.
    pub low: Option<f64>,
    /// Upper bound, with 95 % confidence; `None`: too few times, or unknown.
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
        let (segments, unit) = path::parse(path).map_err(|(prefix, expected)| UnknownMetric {
            path: path.to_owned(),
            instead: path::instead(path, &prefix, &expected),
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

    /// The link of `links` that it is of.
    #[must_use]
    pub fn link(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [head, name, ..] if head == "links" => Some(name),
            _ => None,
        }
    }

    /// The fault of `availability` that it is of.
    #[must_use]
    pub fn fault(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [head, faults, name, ..] if head == "availability" && faults == "faults" => Some(name),
            _ => None,
        }
    }

    /// The kind of time that it is a figure of; `None` for a count, a rate or a share.
    #[must_use]
    pub fn time_kind(&self) -> Option<TimeKind> {
        let name = self.segments.iter().rev().nth(1)?;
        TimeKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The share of the percentile of times that it is, of those that an arm measured itself; `None` for a difference, an outage and anything else.
    #[must_use]
    pub fn percentile(&self) -> Option<f64> {
        let of_times = !["added", "availability"].contains(&self.segments[0].as_str());
        let is_time = self.unit == Unit::Seconds && of_times;
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

    /// Its unit.
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
        let mut node: &dyn node::Node = arm;
        for segment in &self.segments {
            match node.child(segment) {
                Some(Child::Node(next)) => node = next,
                Some(Child::Figure(value)) => {
                    return Reading {
                        percentile: self.outages(arm),
                        ..Reading::exact(value)
                    };
                }
                None => return Reading::default(),
            }
        }
        let (value, interval) = node.quantity();
        Reading {
            value,
            interval,
            percentile: self.outages(arm),
        }
    }

    /// Evidence of a percentile of outages.
    fn outages(&self, arm: &ArmSummary) -> Option<Percentile> {
        let [.., head, figure] = self.segments.as_slice() else {
            return None;
        };
        let found = arm.availability.as_ref()?;
        let fault =
            (found.faults.iter()).find(|fault| Some(fault.name.as_str()) == self.fault())?;
        (head == "outage").then(|| outages::percentile(fault, figure))?
    }
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
    fn outages_of_faults_and_a_year() {
        let below = |name: &str, rest: &[&'static str]| {
            let path = format!("availability.faults.{name}.{}", rest.join("."));
            let metric = Metric::parse(&path).unwrap();
            let segments = metric.segments.iter().map(String::as_str);
            assert!(segments.eq(["availability", "faults", name].iter().chain(rest).copied()));
            assert_eq!((metric.fault(), metric.percentile()), (Some(name), None));
            metric.unit()
        };
        assert_eq!(below("application", &["outage", "p95"]), Unit::Seconds);
        assert_eq!(below("db 1.2, leader", &["outage", "p50"]), Unit::Seconds);
        assert_eq!(below("a", &["lost"]), Unit::Seconds);
        assert_eq!(below("a", &["failed_failovers", "high"]), Unit::Share);
        assert_eq!(below("a", &["impact"]), Unit::Share);
        check(
            "availability.annual.expected",
            &["availability", "annual", "expected"],
            Unit::Seconds,
        );
        check(
            "availability.annual.year.within",
            &["availability", "annual", "year", "within"],
            Unit::Share,
        );
        let refused = |path: &str| Metric::parse(path).unwrap_err().to_string();
        assert_eq!(
            refused("availability.faults.a.outage.p96"),
            "`availability.faults.a.outage.p96` is not a metric: after `availability.faults.<name>` write one of impact, stall_s, resolution_s, budget_share, retried_lost_s, unretried_lost_s, outage, lost, failed_failovers"
        );
        assert_eq!(
            refused("availability.annual.year.p98"),
            "`availability.annual.year.p98` is not a metric: after `availability.annual.year` did you mean `p95`?"
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
            "`added.typical` is not a metric: after `added` write one of mean, p50, p75, p90, p95, p99, p999, cpu",
        );
        check(
            "reponse_time.p99",
            "`reponse_time.p99` is not a metric: after `arms.<arm>` did you mean `response_time`?",
        );
        check(
            "components.gateway.cpu",
            "`components.gateway.cpu` is not a metric: after `components.<name>` write one of cpu_cores_mean, cpu_cores_max, cpu_s_per_exchange, busiest_thread_cores_max, rss_bytes_max, fds_max, threads_max, cpu_limit_cores, cpu_quota_cores, cpus_busy_share, busiest_process_cores, busiest_thread_ready, throttled_share, major_faults, memory_share, cpu_pressure, memory_pressure, io_pressure, fds_share, accept_queue, listen_overflows, listen_drops, segments_sent, segments_again, ports_share, conntrack_share, conntrack_drops, server.<field>",
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
